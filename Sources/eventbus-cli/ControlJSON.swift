import BusProtocol
import Primitives
import ServiceRuntime

/// What the broker says about itself, as JSON: the same for `--json` and for GET /status.
enum ControlJSON {
  static func json(_ map: ControlMap) -> JSONText {
    .object(map.fields.map { JSONText.Member($0.key, member($0.key, $0.value)) })
  }

  /// Times travel as nanoseconds and are shown as everywhere else.
  private static func member(_ key: String, _ value: ControlValue) -> JSONText {
    guard key == "lastTime", case .number(let time) = value else { return json(value) }
    return .text(Timestamp(nanoseconds: Int64(clamping: time)).text)
  }

  private static func json(_ value: ControlValue) -> JSONText {
    switch value {
    case .null: .null
    case .flag(let flag): .boolean(flag)
    case .number(let number): .integer(Int64(clamping: number))
    case .negative(let number): .integer(number)
    case .double(let number): .double(number)
    case .text(let text): .text(text)
    case .bytes(let bytes): .text(String(decoding: bytes, as: UTF8.self))
    case .list(let values): .list(values.map(json))
    case .map(let map): json(map)
    }
  }
}
