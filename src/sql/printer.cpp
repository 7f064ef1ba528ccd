#include "sql/precedence.hpp"
#include "sql/words.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/sql/calendar.hpp>
#include <shoal/sql/printer.hpp>

#include <fmt/format.h>

#include <array>
#include <initializer_list>

namespace shoal::sql {
namespace {

struct Spelling {
  std::string_view symbol;
  Precedence precedence;
};

// In the order of BinaryOperator.
constexpr std::array kBinarySpellings = {
    Spelling{"OR", Precedence::logical_or},    Spelling{"AND", Precedence::logical_and},
    Spelling{"=", Precedence::comparison},     Spelling{"<>", Precedence::comparison},
    Spelling{"<", Precedence::comparison},     Spelling{"<=", Precedence::comparison},
    Spelling{">", Precedence::comparison},     Spelling{">=", Precedence::comparison},
    Spelling{"||", Precedence::concatenate},   Spelling{"+", Precedence::additive},
    Spelling{"-", Precedence::additive},       Spelling{"*", Precedence::multiplicative},
    Spelling{"/", Precedence::multiplicative}, Spelling{"%", Precedence::multiplicative},
};
static_assert(kBinarySpellings.size() == static_cast<std::size_t>(BinaryOperator::modulo) + 1);

const Spelling& spelling(BinaryOperator operation) {
  return kBinarySpellings.at(static_cast<std::size_t>(operation));
}

struct PrecedenceOf {
  Precedence operator()(const Unary& unary) const {
    return unary.operation == UnaryOperator::logical_not ? Precedence::logical_not
                                                         : Precedence::unary;
  }
  Precedence operator()(const Binary& binary) const {
    return spelling(binary.operation).precedence;
  }
  Precedence operator()(const IsNull&) const { return Precedence::is; }
  Precedence operator()(const Between&) const { return Precedence::predicate; }
  Precedence operator()(const InList&) const { return Precedence::predicate; }
  Precedence operator()(const Like&) const { return Precedence::predicate; }
  Precedence operator()(const auto&) const { return Precedence::primary; }
};

// In the order of ScalarType. Spark's own TIMESTAMP has a time zone; the others' has none.
struct TypeSpelling {
  std::string_view duckdb;
  std::string_view postgresql;
  std::string_view spark;
};
constexpr std::array kTypeSpellings = {
    TypeSpelling{"BOOLEAN", "BOOLEAN", "BOOLEAN"},
    TypeSpelling{"SMALLINT", "SMALLINT", "SMALLINT"},
    TypeSpelling{"INTEGER", "INTEGER", "INT"},
    TypeSpelling{"BIGINT", "BIGINT", "BIGINT"},
    TypeSpelling{"REAL", "REAL", "FLOAT"},
    TypeSpelling{"DOUBLE", "DOUBLE PRECISION", "DOUBLE"},
    TypeSpelling{"DECIMAL", "DECIMAL", "DECIMAL"},
    TypeSpelling{"VARCHAR", "VARCHAR", "STRING"},
    TypeSpelling{"DATE", "DATE", "DATE"},
    TypeSpelling{"TIMESTAMP", "TIMESTAMP", "TIMESTAMP_NTZ"},
};
static_assert(kTypeSpellings.size() == static_cast<std::size_t>(ScalarType::timestamp) + 1);

std::string print_type(const TypeName& type, Dialect dialect) {
  const TypeSpelling& spellings = kTypeSpellings.at(static_cast<std::size_t>(type.type));
  const std::string_view name = dialect == Dialect::duckdb       ? spellings.duckdb
                                : dialect == Dialect::postgresql ? spellings.postgresql
                                                                 : spellings.spark;
  if (type.type != ScalarType::decimal) return std::string(name);
  return fmt::format("{}({}, {})", name, type.precision, type.scale);
}

void require(bool valid, std::string_view what, std::string_view text) {
  if (valid) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("the text {} is no {}; make the tree with the parser",
                          printable(text, 40), what));
}

// Not fmt::format in what recurses: its buffer would lie on the stack once for every level.
std::string joined(std::initializer_list<std::string_view> pieces) {
  std::string text;
  for (const std::string_view piece : pieces) text += piece;
  return text;
}

class Printer {
 public:
  Printer(Dialect dialect, Parentheses parentheses)
      : dialect_(dialect), parentheses_(parentheses) {}

  std::string print(const Expression& expression) const {
    return std::visit(*this, expression.node().value);
  }

  std::string operator()(const Literal& literal) const {
    switch (literal.kind) {
      case LiteralKind::null:
        return "NULL";
      case LiteralKind::boolean:
        require(literal.text == "TRUE" || literal.text == "FALSE", "truth value", literal.text);
        return literal.text;
      case LiteralKind::integer:
        require(is_integer_text(literal.text), "integer", literal.text);
        return literal.text;
      case LiteralKind::decimal:
        require(is_decimal_text(literal.text), "decimal", literal.text);
        return literal.text;
      case LiteralKind::string:
        return quote_string(literal.text, dialect_);
      case LiteralKind::date:
        require(is_date(literal.text), "date", literal.text);
        return joined({"DATE '", literal.text, "'"});
      case LiteralKind::timestamp:
        require(is_timestamp(literal.text), "timestamp", literal.text);
        return joined({print_type({ScalarType::timestamp}, dialect_), " '", literal.text, "'"});
    }
    throw Error(ErrorCode::internal, "a literal of no kind; please report this");
  }

  std::string operator()(const ColumnReference& reference) const {
    const std::string column = name(reference.column);
    return reference.table ? joined({name(*reference.table), ".", column}) : column;
  }

  // A sign before another sign gets parentheses, since -- begins a comment.
  std::string operator()(const Unary& unary) const {
    switch (unary.operation) {
      case UnaryOperator::logical_not:
        return joined({"NOT ", operand(unary.operand, Precedence::logical_not)});
      case UnaryOperator::minus:
        return joined({"-", operand(unary.operand, Precedence::cast)});
      case UnaryOperator::plus:
        return joined({"+", operand(unary.operand, Precedence::cast)});
    }
    throw Error(ErrorCode::internal, "an operator of no kind; please report this");
  }

  std::string operator()(const Binary& binary) const {
    const auto& [symbol, precedence] = spelling(binary.operation);
    Precedence left = precedence;
    Precedence right = tighter(precedence);
    if (precedence == Precedence::comparison) {
      // Dialects disagree on what binds tighter among comparisons and predicates.
      left = right = Precedence::concatenate;
    } else if (binary.operation == BinaryOperator::concatenate) {
      // Spark gives || the precedence of +.
      const Binary* inner = binary.left.get_if<Binary>();
      const bool chain = inner != nullptr && inner->operation == BinaryOperator::concatenate;
      left = chain ? Precedence::concatenate : Precedence::multiplicative;
      right = Precedence::multiplicative;
    }
    return joined({operand(binary.left, left), " ", symbol, " ", operand(binary.right, right)});
  }

  std::string operator()(const IsNull& is_null) const {
    return joined({predicate_operand(is_null.operand), " IS ", negation(is_null.negated), "NULL"});
  }

  std::string operator()(const Between& between) const {
    return joined({predicate_operand(between.operand), " ", negation(between.negated), "BETWEEN ",
                   predicate_operand(between.low), " AND ", predicate_operand(between.high)});
  }

  std::string operator()(const InList& in_list) const {
    require(!in_list.items.empty(), "list of items", "()");
    return joined({predicate_operand(in_list.operand), " ", negation(in_list.negated), "IN (",
                   list(in_list.items), ")"});
  }

  std::string operator()(const Like& like) const {
    return joined({predicate_operand(like.operand), " ", negation(like.negated), "LIKE ",
                   pattern(like.pattern)});
  }

  std::string operator()(const Call& call) const {
    require(is_function_name(call.name), "function name", call.name);
    if (call.star) return joined({call.name, "(*)"});
    return joined({call.name, "(", call.distinct ? "DISTINCT " : "", list(call.arguments), ")"});
  }

  std::string operator()(const Cast& cast) const {
    if (cast.try_ && dialect_ == Dialect::postgresql) {
      throw Error(
          ErrorCode::unsupported,
          "PostgreSQL has no TRY_CAST; write CASE WHEN with a check of the value around CAST");
    }
    return joined({cast.try_ ? "TRY_CAST(" : "CAST(", print(cast.operand), " AS ",
                   print_type(cast.type, dialect_), ")"});
  }

  std::string operator()(const Case& cases) const {
    require(!cases.branches.empty(), "list of branches", "CASE");
    std::string text = "CASE";
    if (cases.operand) text += joined({" ", operand(*cases.operand, Precedence::concatenate)});
    for (const CaseBranch& branch : cases.branches) {
      text += joined({" WHEN ", print(branch.when), " THEN ", print(branch.then)});
    }
    if (cases.otherwise) text += joined({" ELSE ", print(*cases.otherwise)});
    return text + " END";
  }

  std::string name(const Identifier& identifier) const {
    return quote_identifier(identifier.name, dialect_);
  }

 private:
  // The expression, in parentheses if it binds less tightly than is needed where it stands.
  std::string operand(const Expression& expression, Precedence needed) const {
    const Precedence own = std::visit(PrecedenceOf{}, expression.node().value);
    const bool bare = parentheses_ == Parentheses::needed && own >= needed;
    return bare ? print(expression) : joined({"(", print(expression), ")"});
  }

  std::string predicate_operand(const Expression& expression) const {
    return operand(expression, Precedence::concatenate);
  }

  // Nothing is an escape in a pattern. DuckDB does so by itself; the others take the backslash for
  // one.
  std::string pattern(const Expression& expression) const {
    if (dialect_ == Dialect::duckdb) return predicate_operand(expression);
    if (dialect_ == Dialect::postgresql) return predicate_operand(expression) + " ESCAPE ''";
    const Literal* literal = expression.get_if<Literal>();
    if (literal == nullptr || literal->kind != LiteralKind::string) {
      throw Error(ErrorCode::unsupported,
                  "on Spark a pattern of LIKE must be a string; write for example LIKE 'a%'");
    }
    std::string escaped;
    for (const char c : literal->text)
      escaped += c == '\\' ? std::string("\\\\") : std::string(1, c);
    return quote_string(escaped, dialect_);
  }

  static std::string_view negation(bool negated) { return negated ? "NOT " : ""; }

  std::string list(const std::vector<Expression>& items) const {
    std::string text;
    for (const Expression& item : items) {
      if (!text.empty()) text += ", ";
      text += print(item);
    }
    return text;
  }

  Dialect dialect_;
  Parentheses parentheses_;
};

}  // namespace

std::string print(const Expression& expression, Dialect dialect, Parentheses parentheses) {
  return Printer(dialect, parentheses).print(expression);
}

std::string print(const Select& select, Dialect dialect, Parentheses parentheses) {
  const Printer printer(dialect, parentheses);
  require(!select.items.empty(), "list of items", "SELECT");
  std::string items;
  for (const SelectItem& item : select.items) {
    if (!items.empty()) items += ", ";
    items += printer.print(item.expression);
    if (item.alias) items += fmt::format(" AS {}", printer.name(*item.alias));
  }
  std::string text = fmt::format("SELECT {} FROM {}", items, printer.name(select.table));
  if (select.where) text += fmt::format(" WHERE {}", printer.print(*select.where));
  return text;
}

}  // namespace shoal::sql
