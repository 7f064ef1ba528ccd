// The programs that tests start.
#pragma once

#include <string>

namespace shoal::test {

// `shoal` with scripted bits (scripted_main.cpp).
const std::string& scripted_program();

}  // namespace shoal::test
