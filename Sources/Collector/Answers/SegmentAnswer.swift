// What Segment's routes and /v1/events answer, JSON:
//
//   success    true when the request could be read, whatever became of its events
//   accepted   how many events are on disk
//   refused    how many are not, and never will be
//   results    one object an event, in order: index, messageId (as given, or as assigned), code
//              ("STORED", else why not), and with a refusal its reason
//
// A request that could not be read: success false, code and message, as Segment writes them.
internal import BusClient
internal import EventCodec
internal import HTTPServer
internal import Primitives

enum SegmentAnswer {
  static func results(_ verdicts: Verdicts) -> HTTPResponse {
    var output: [UInt8] = []
    output.reserveCapacity(80 * verdicts.entries.count + 80)
    output += "{\"success\":true,\"accepted\":\(verdicts.accepted)".utf8
    output += ",\"refused\":\(verdicts.refused),\"results\":[".utf8
    let payloads = unsafe verdicts.events.payloads.span.bytes
    for (index, entry) in verdicts.entries.enumerated() {
      output += (index == 0 ? "{\"index\":" : ",{\"index\":").utf8
      output += String(index).utf8
      output += ",\"messageId\":".utf8
      switch entry {
      case .taken(_, let id):
        CanonicalJSON.text(payloads.extracting(id), &output)
        output += ",\"code\":\"STORED\"}".utf8
      case .refused(let id, let refusal):
        unsafe CanonicalJSON.text(id.span.bytes, &output)
        output += ",\"code\":".utf8
        quote(refusal.code, &output)
        output += ",\"reason\":".utf8
        quote(refusal.reason, &output)
        output.append(UInt8(ascii: "}"))
      }
    }
    output += "]}".utf8
    return .json(output)
  }

  static func failure(_ failure: RequestFailure) -> HTTPResponse {
    var output = Array("{\"success\":false,\"code\":".utf8)
    quote(failure.code, &output)
    output += ",\"message\":".utf8
    quote(failure.reason, &output)
    output.append(UInt8(ascii: "}"))
    return .json(output, status: failure.status)
  }

  static func quote(_ text: String, _ output: inout [UInt8]) {
    let utf8 = Array(text.utf8)
    unsafe CanonicalJSON.text(utf8.span.bytes, &output)
  }
}
