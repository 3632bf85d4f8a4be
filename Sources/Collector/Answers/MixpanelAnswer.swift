// What Mixpanel's routes answer.
//
//   /import   all good: 200 {"code":200,"num_records_imported":N,"status":"OK"}
//             some bad: 400 {"code":400,"error":...,"status":"Bad Request","num_records_imported":N,
//                            "failed_records":[{"index","insert_id","field","message"}]}; the others are
//                       stored, so it must not be sent again
//   /track    `1` when all events are stored, else `0`; with verbose=1 {"status":1,"error":null}, or
//             {"status":0,"error":...} naming the events that are not. Also for a form sent to /import.
//             With img=1 in an address that an image has, as in a mail: a GIF of one transparent pixel.
internal import EventCodec
internal import HTTPServer
internal import Primitives

enum MixpanelAnswer {
  enum Style: Sendable {
    case strict
    case plain
    case verbose
    case pixel
  }

  private static let gif: [UInt8] =
    Array("GIF89a".utf8) + [
      1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF,  // one pixel, two colours
      0x21, 0xF9, 4, 1, 0, 0, 0, 0,  // the first is transparent
      0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3B,
    ]

  static func results(_ verdicts: Verdicts, _ style: Style) -> HTTPResponse {
    switch style {
    case .strict: return strict(verdicts)
    case .plain: return .text(verdicts.refused == 0 ? "1" : "0")
    case .pixel:
      // Kept by a browser, it would be asked for once.
      return HTTPResponse(
        contentType: "image/gif", headers: [.init("Cache-Control", "no-store")], body: gif)
    case .verbose:
      return verdicts.refused == 0 ? verbose(nil) : verbose(summary(verdicts))
    }
  }

  static func failure(_ failure: RequestFailure, _ style: Style) -> HTTPResponse {
    switch style {
    case .plain, .pixel: return .text("0", status: failure.status)
    case .verbose: return verbose(failure.reason, status: failure.status)
    case .strict:
      var output = Array("{\"code\":\(failure.status),\"error\":".utf8)
      SegmentAnswer.quote(failure.reason, &output)
      output += ",\"status\":".utf8
      SegmentAnswer.quote(failure.status == 401 ? "Unauthorized" : "Error", &output)
      output.append(UInt8(ascii: "}"))
      return .json(output, status: failure.status)
    }
  }

  private static func verbose(_ error: String?, status: UInt32 = 200) -> HTTPResponse {
    guard let error else { return .json(Array("{\"status\":1,\"error\":null}".utf8)) }
    var output = Array("{\"status\":0,\"error\":".utf8)
    SegmentAnswer.quote(error, &output)
    output.append(UInt8(ascii: "}"))
    return .json(output, status: status)
  }

  private static func summary(_ verdicts: Verdicts) -> String {
    var text = "\(verdicts.accepted) stored, \(verdicts.refused) not:"
    for (index, entry) in verdicts.entries.enumerated() {
      guard case .refused(_, let refusal) = entry else { continue }
      text += " [\(index)] \(refusal.reason);"
      if text.utf8.count > 2000 { return text + " ..." }
    }
    return text
  }

  private static func strict(_ verdicts: Verdicts) -> HTTPResponse {
    guard verdicts.refused > 0 else {
      return .json(
        Array(
          "{\"code\":200,\"num_records_imported\":\(verdicts.accepted),\"status\":\"OK\"}".utf8))
    }
    var output = Array(
      ("{\"code\":400,\"error\":\"some data points in the request failed validation\","
        + "\"status\":\"Bad Request\",\"num_records_imported\":\(verdicts.accepted),"
        + "\"failed_records\":[").utf8)
    var isFirst = true
    for (index, entry) in verdicts.entries.enumerated() {
      guard case .refused(let id, let refusal) = entry else { continue }
      output += "\(isFirst ? "" : ","){\"index\":\(index),\"insert_id\":".utf8
      isFirst = false
      unsafe CanonicalJSON.text(id.span.bytes, &output)
      output += ",\"field\":".utf8
      SegmentAnswer.quote(refusal.field, &output)
      output += ",\"message\":".utf8
      SegmentAnswer.quote(refusal.reason, &output)
      output.append(UInt8(ascii: "}"))
    }
    output += "]}".utf8
    return .json(output, status: 400)
  }
}
