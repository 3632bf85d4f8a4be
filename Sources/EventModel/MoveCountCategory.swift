/// A number of moves as a bucket, the sample of a bucketed property. The raw values are its labels on
/// the wire and in reports; the aggregator uses the same ones.
public enum MoveCountCategory: String, Sendable, Hashable, Codable, CaseIterable {
  case under8 = "< 8"
  case from8To14 = "8 - 14"
  case from15To20 = "15 - 20"
  case from21To30 = "21 - 30"
  case over30 = "> 30"
  /// Negative numbers.
  case invalid = "invalid"

  public init(moveCount: Int) {
    switch moveCount {
    case ..<0: self = .invalid
    case ..<8: self = .under8
    case ..<15: self = .from8To14
    case ..<21: self = .from15To20
    case ..<31: self = .from21To30
    default: self = .over30
    }
  }
}
