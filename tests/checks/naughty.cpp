// Uses what the symbol check must find.
#include <cstdlib>
#include <iostream>

int main() {
  std::cout << std::rand() << "\n";
  return 0;
}
