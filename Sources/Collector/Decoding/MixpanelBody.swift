internal import Hashing
internal import HTTPServer
internal import Primitives

/// The JSON of a request to Mixpanel's routes: the body itself, or the field `data` of a form or of the
/// query, as JSON or as base64 of JSON.
struct MixpanelBody {
  var bytes: [UInt8]
  /// One event a line.
  var isLines = false
  var isForm = false
  /// The client wants an object as the answer.
  var isVerbose: Bool

  init(_ request: HTTPRequest, _ body: [UInt8]) throws(RequestFailure) {
    isVerbose = request.parameter("verbose") == "1"
    let type = request.header("Content-Type")?.lowercased() ?? ""
    if request.method == "GET" {
      isForm = true
      bytes = try Self.decoded(request.parameter("data").map { Array($0.utf8) })
    } else if type.hasPrefix("application/x-www-form-urlencoded") || body.starts(with: "data=".utf8)
    {
      isForm = true
      isVerbose = isVerbose || FormFields.value(of: "verbose", in: body) == [UInt8(ascii: "1")]
      bytes = try Self.decoded(FormFields.value(of: "data", in: body))
    } else {
      isLines = type.hasPrefix("application/x-ndjson")
      bytes = body
    }
  }

  /// How a request wants to be answered, also when its body cannot be read.
  ///
  /// - Parameter limit: bytes that a packed form may have when it is unpacked for this.
  static func style(
    of request: HTTPRequest, _ route: CollectorRoute, limit: Int
  ) -> MixpanelAnswer.Style {
    let isForm =
      request.method == "GET"
      || request.header("Content-Type")?.lowercased()
        .hasPrefix("application/x-www-form-urlencoded") == true
    if route == .mixpanelImport, !isForm { return .strict }
    if request.method == "GET", request.parameter("img") == "1" { return .pixel }
    if request.parameter("verbose") == "1" { return .verbose }
    return isForm && isVerboseForm(request, limit: limit) ? .verbose : .plain
  }

  private static func isVerboseForm(_ request: HTTPRequest, limit: Int) -> Bool {
    do throws(RequestBody.Failure) {
      let body = try RequestBody.bytes(of: request, limit: limit)
      return FormFields.value(of: "verbose", in: body) == [UInt8(ascii: "1")]
    } catch {
      // What is wrong with it is told by whoever reads it for its events.
      return false
    }
  }

  private static func decoded(_ data: [UInt8]?) throws(RequestFailure) -> [UInt8] {
    guard let data else {
      throw RequestFailure(400, "invalid_request", "the form has no field \"data\"")
    }
    let first = data.first { $0 != 0x20 && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 }
    if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") { return data }
    var text = String(decoding: data.map(standardLetter), as: UTF8.self)
    text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    guard let bytes = Base64.decode(text) else {
      throw RequestFailure(400, "invalid_request", "\"data\" is neither JSON nor base64")
    }
    return bytes
  }

  /// In a form a plus sign that nobody escaped has become a blank; in base64 made for addresses, two
  /// letters are others (RFC 4648, 5).
  private static func standardLetter(_ letter: UInt8) -> UInt8 {
    switch letter {
    case UInt8(ascii: " "), UInt8(ascii: "-"): UInt8(ascii: "+")
    case UInt8(ascii: "_"): UInt8(ascii: "/")
    default: letter
    }
  }
}

extension EventList {
  /// One event a line; blank lines are none.
  init(lines body: RawSpan) throws(BodyError) {
    self.init(empty: ())
    var start = 0
    for index in 0...body.byteCount {
      guard index == body.byteCount || body.bigEndian(at: index, as: UInt8.self) == 0x0A else {
        continue
      }
      let line = start..<index
      start = index + 1
      let isBlank = line.allSatisfy {
        [0x20, 0x09, 0x0D].contains(body.bigEndian(at: $0, as: UInt8.self))
      }
      if isBlank { continue }
      guard events.count < Self.maximumEvents else {
        throw BodyError(reason: "more than \(Self.maximumEvents) events", position: line.lowerBound)
      }
      events.append(line)
    }
  }
}
