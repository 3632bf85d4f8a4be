#if canImport(Foundation)
  public import Foundation
  public import Primitives

  extension PropertyValue {
    /// A date as a property; it travels as ISO 8601 text.
    public init(_ date: Date) { self = .date(Timestamp(date)) }
  }

  extension Timestamp {
    /// To the microsecond, which is what a `Date` of this century holds. Dates beyond 1678 and 2262 are at
    /// these bounds.
    public init(_ date: Date) {
      let seconds = date.timeIntervalSince1970
      guard seconds.magnitude < 9.2e9 else {
        self.init(nanoseconds: seconds < 0 ? -9_200_000_000_000_000_000 : 9_200_000_000_000_000_000)
        return
      }
      self.init(nanoseconds: Int64((seconds * 1e6).rounded()) * 1000)
    }
  }
#endif
