// Which texts are dates and timestamps, in every dialect.
#pragma once

#include <string_view>

namespace shoal::sql {

// 2024-01-31, a day that exists, years 0001 to 9999. Words such as 'today' and 'infinity', which
// some engines take, are not dates here: they would change meaning from day to day.
bool is_date(std::string_view text);

// A date, then optionally a space or T and 23:59:59 with up to six decimals. No time zone.
bool is_timestamp(std::string_view text);

}  // namespace shoal::sql
