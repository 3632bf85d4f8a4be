/// A day of the Gregorian calendar, reached back and forth without end.
public struct CivilDate: Hashable, Sendable {
  public var year: Int
  public var month: Int
  public var day: Int

  public init(year: Int, month: Int, day: Int) {
    self.year = year
    self.month = month
    self.day = day
  }

  // Years begin in March, so that the leap day is the last of its year, and 400 years, an era, have 146,097
  // days (Howard Hinnant, "chrono-compatible low-level date algorithms"). Within an era a division is a
  // multiplication whose halves are quotient and remainder (Neri and Schneider, "Euclidean affine functions
  // and their application to calendar algorithms", 2021).

  public init(daysSince1970 days: Int) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = UInt32(truncatingIfNeeded: shifted - era * 146_097)
    let (century, quarterDay) = (4 * dayOfEra + 3).quotientAndRemainder(dividingBy: 146_097)
    let years = 2_939_745 * UInt64(quarterDay | 3)
    let dayOfYear = UInt32(truncatingIfNeeded: years) / 2_939_745 / 4
    let months = 2141 * dayOfYear + 197_913
    // January and February are the months 13 and 14 of the year before.
    let isNextYear = dayOfYear >= 306
    day = Int((months & 0xFFFF) / 2141 + 1)
    month = Int(months >> 16) - (isNextYear ? 12 : 0)
    year = era * 400 + Int(100 * century) + Int(years >> 32) + (isNextYear ? 1 : 0)
  }

  public var daysSince1970: Int {
    let shiftedYear = month <= 2 ? year - 1 : year
    let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
    let yearOfEra = shiftedYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  /// Whether the calendar has this day.
  public var isValid: Bool {
    guard (1...12).contains(month), day >= 1 else { return false }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return day <= lengths[month - 1]
  }
}
