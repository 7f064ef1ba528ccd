#include "sql/expression_printer.hpp"
#include "sql/words.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/sql/calendar.hpp>
#include <shoal/sql/guarded_functions.hpp>
#include <shoal/sql/printer.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

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
  Precedence operator()(const Literal&) const { return Precedence::primary; }
  Precedence operator()(const ColumnReference&) const { return Precedence::primary; }
  Precedence operator()(const Call&) const { return Precedence::primary; }
  Precedence operator()(const Cast&) const { return Precedence::primary; }
  Precedence operator()(const Case&) const { return Precedence::primary; }
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
  const std::string_view name = dialect == Dialect::postgresql ? spellings.postgresql
                                : dialect == Dialect::spark    ? spellings.spark
                                                               : spellings.duckdb;
  if (type.type != ScalarType::decimal) return std::string(name);
  if (type.precision == 0 && dialect == Dialect::postgresql) return "NUMERIC";
  require(type.precision >= 1 && type.precision <= 38 && type.scale >= 0 &&
              type.scale <= type.precision,
          "precision of a decimal", fmt::format("({}, {})", type.precision, type.scale));
  return fmt::format("{}({}, {})", name, type.precision, type.scale);
}

std::string_view negation(bool negated) { return negated ? "NOT " : ""; }

}  // namespace

void require(bool valid, std::string_view what, std::string_view text) {
  if (valid) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("the text {} is no {}; make the tree with the parser",
                          printable(text, 40), what));
}

std::string joined(std::initializer_list<std::string_view> pieces) {
  std::string text;
  for (const std::string_view piece : pieces) text += piece;
  return text;
}

std::string ExpressionPrinter::operator()(const Literal& literal) const {
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

std::string ExpressionPrinter::operator()(const ColumnReference& reference) const {
  const std::string column = name(reference.column);
  return reference.table ? joined({name(*reference.table), ".", column}) : column;
}

// A sign before another sign gets parentheses, since -- begins a comment.
std::string ExpressionPrinter::operator()(const Unary& unary) const {
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

std::string ExpressionPrinter::operator()(const Binary& binary) const {
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

std::string ExpressionPrinter::operator()(const IsNull& is_null) const {
  return joined({predicate_operand(is_null.operand), " IS ", negation(is_null.negated), "NULL"});
}

std::string ExpressionPrinter::operator()(const Between& between) const {
  return joined({predicate_operand(between.operand), " ", negation(between.negated), "BETWEEN ",
                 predicate_operand(between.low), " AND ", predicate_operand(between.high)});
}

std::string ExpressionPrinter::operator()(const InList& in_list) const {
  require(!in_list.items.empty(), "list of items", "()");
  return joined({predicate_operand(in_list.operand), " ", negation(in_list.negated), "IN (",
                 list(in_list.items), ")"});
}

std::string ExpressionPrinter::operator()(const Like& like) const {
  return joined({predicate_operand(like.operand), " ", negation(like.negated), "LIKE ",
                 pattern(like.pattern)});
}

std::string ExpressionPrinter::operator()(const Call& call) const {
  std::string text;
  const bool engine = dialect_ == Dialect::postgresql || dialect_ == Dialect::spark;
  if (call.name == "EXTRACT") {
    text = extract(call);
  } else if (call.name == "ROW_OF_UNIT" && dialect_ != Dialect::shoal) {
    text = row_of_unit(call);
  } else if (call.name == "PERCENTILE_CONT" && engine) {
    require(call.arguments.size() == 2 && !call.distinct && call.named.empty(),
            "value and fraction of", call.name);
    text = joined({"PERCENTILE_CONT(", print(call.arguments[1]), ") WITHIN GROUP (ORDER BY ",
                   print(call.arguments[0]), ")"});
  } else {
    require(is_function_name(call.name), "function name", call.name);
    text = joined({call.name, "(", arguments(call), ")"});
  }
  if (call.filter) text += joined({" FILTER (WHERE ", print(*call.filter), ")"});
  return text;
}

std::string ExpressionPrinter::extract(const Call& call) const {
  const Literal* field = call.arguments.size() == 2 ? call.arguments[0].get_if<Literal>() : nullptr;
  const bool plain = !call.star && !call.distinct && call.named.empty() && !call.filter;
  require(plain && field != nullptr && is_date_field(field->text), "field of EXTRACT", call.name);
  return joined({"EXTRACT(", field->text, " FROM ", print(call.arguments[1]), ")"});
}

// The place of a row among those of its unit, by a hash of its columns with the question's key. An
// engine has the key as shoal_key, a server as its first parameter. Where the hash is no
// cryptographic one, equal hashes are told apart by the columns themselves.
std::string ExpressionPrinter::row_of_unit(const Call& call) const {
  require(!call.arguments.empty() && dialect_ != Dialect::spark, "unit of", call.name);
  const std::string columns = list({call.arguments.begin() + 1, call.arguments.end()});
  std::string order;
  if (dialect_ == Dialect::postgresql) {
    order = joined({" ORDER BY sha256(CAST($1 AS BYTEA) || convert_to(CAST(ROW('row'",
                    columns.empty() ? "" : ", ", columns, ") AS TEXT), 'UTF8'))"});
  } else if (!columns.empty()) {
    order = joined({" ORDER BY hash(getvariable('shoal_key'), ", columns, "), ", columns});
  }
  return joined({"ROW_NUMBER() OVER (PARTITION BY ", print(call.arguments.front()), order, ")"});
}

std::string ExpressionPrinter::arguments(const Call& call) const {
  require(!call.star || (call.arguments.empty() && !call.distinct), "list of arguments", "*");
  require(!call.distinct || !call.arguments.empty(), "list of arguments", "DISTINCT");
  std::string text =
      call.star ? "*" : joined({call.distinct ? "DISTINCT " : "", list(call.arguments)});
  for (const NamedArgument& argument : call.named) {
    if (!text.empty()) text += ", ";
    text += named_argument(argument);
  }
  return text;
}

// A single value in parentheses is that value, so an operation gets some.
std::string ExpressionPrinter::named_argument(const NamedArgument& argument) const {
  if (dialect_ == Dialect::postgresql || dialect_ == Dialect::spark) {
    throw Error(ErrorCode::unsupported,
                "named arguments mean something to Shoal alone; leave them out of what an engine "
                "is to run");
  }
  require(!argument.values.empty(), "named argument", argument.name.name);
  const std::string value = argument.values.size() == 1
                                ? operand(argument.values.front(), Precedence::unary)
                                : joined({"(", list(argument.values), ")"});
  return joined({name(argument.name), " => ", value});
}

std::string ExpressionPrinter::operator()(const Cast& cast) const {
  if (cast.try_ && dialect_ == Dialect::postgresql) {
    throw Error(
        ErrorCode::unsupported,
        "PostgreSQL has no TRY_CAST; write CASE WHEN with a check of the value around CAST");
  }
  return joined({cast.try_ ? "TRY_CAST(" : "CAST(", print(cast.operand), " AS ",
                 print_type(cast.type, dialect_), ")"});
}

std::string ExpressionPrinter::operator()(const Case& cases) const {
  require(!cases.branches.empty(), "list of branches", "CASE");
  std::string text = "CASE";
  if (cases.operand) text += joined({" ", operand(*cases.operand, Precedence::concatenate)});
  for (const CaseBranch& branch : cases.branches) {
    text += joined({" WHEN ", print(branch.when), " THEN ", print(branch.then)});
  }
  if (cases.otherwise) text += joined({" ELSE ", print(*cases.otherwise)});
  return text + " END";
}

std::string ExpressionPrinter::name(const Identifier& identifier) const {
  return quote_identifier(identifier.name, dialect_);
}

// The expression, in parentheses if it binds less tightly than is needed where it stands.
std::string ExpressionPrinter::operand(const Expression& expression, Precedence needed) const {
  const Precedence own = std::visit(PrecedenceOf{}, expression.node().value);
  const bool bare = parentheses_ == Parentheses::needed && own >= needed;
  return bare ? print(expression) : joined({"(", print(expression), ")"});
}

std::string ExpressionPrinter::predicate_operand(const Expression& expression) const {
  return operand(expression, Precedence::concatenate);
}

// Nothing is an escape in a pattern. DuckDB does so by itself; the others take the backslash for
// one.
std::string ExpressionPrinter::pattern(const Expression& expression) const {
  if (dialect_ == Dialect::duckdb || dialect_ == Dialect::shoal) {
    return predicate_operand(expression);
  }
  if (dialect_ == Dialect::postgresql) return predicate_operand(expression) + " ESCAPE ''";
  const Literal* literal = expression.get_if<Literal>();
  if (literal == nullptr || literal->kind != LiteralKind::string) {
    throw Error(ErrorCode::unsupported,
                "on Spark a pattern of LIKE must be a string; write for example LIKE 'a%'");
  }
  std::string escaped;
  for (const char c : literal->text) escaped += c == '\\' ? std::string("\\\\") : std::string(1, c);
  return quote_string(escaped, dialect_);
}

std::string ExpressionPrinter::names(const std::vector<Identifier>& identifiers) const {
  std::string text;
  for (const Identifier& identifier : identifiers) {
    if (!text.empty()) text += ", ";
    text += name(identifier);
  }
  return text;
}

std::string ExpressionPrinter::list(const std::vector<Expression>& items) const {
  std::string text;
  for (const Expression& item : items) {
    if (!text.empty()) text += ", ";
    text += print(item);
  }
  return text;
}

std::string ExpressionPrinter::write(const Expression& expression, RowWork& work,
                                     double* longest) const {
  if (dialect_ == Dialect::shoal) return print(expression);
  const Expression expanded = expand_guarded(expression, dialect_);
  const double characters = work.add(expanded);
  if (longest != nullptr) *longest = std::max(*longest, characters);
  return print(expanded);
}

std::string print(const Expression& expression, Dialect dialect, Parentheses parentheses) {
  RowWork work;
  return ExpressionPrinter(dialect, parentheses).write(expression, work);
}

}  // namespace shoal::sql
