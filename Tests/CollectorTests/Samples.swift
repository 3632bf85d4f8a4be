import BusClient
import EventCodec
import EventModel
import HTTPServer
import Primitives
import Testing

@testable import Collector

/// 2026-11-30T10:00:00Z: when all requests of these tests arrive.
let arrival: Int64 = 1_796_032_800_000_000_000

/// A collector's core without rules and keys, or with those given.
func makeCore(keys: [String] = [], limit: Int = 4 << 20, rules: String = "") throws -> CollectorCore
{
  CollectorCore(
    keys: WriteKeys(keys), maximumBodyBytes: limit,
    rules: rules.isEmpty ? PropertyRules() : try PropertyRules(json: Array(rules.utf8)))
}

func request(
  _ path: String, _ body: String, headers: [HTTPRequest.Field] = [],
  query: [HTTPRequest.Field] = []
) -> HTTPRequest {
  HTTPRequest(method: "POST", path: path, query: query, headers: headers, body: Array(body.utf8))
}

extension CollectorCore {
  /// What the core makes of a request, which must have something to publish.
  mutating func verdicts(_ request: HTTPRequest) throws -> Verdicts {
    let route = try #require(CollectorRoute.named(request.path))
    guard case .publish(let verdicts) = try decide(request, route, receivedAt: arrival) else {
      throw NothingToPublish()
    }
    return verdicts
  }

  mutating func verdicts(_ path: String, _ body: String) throws -> Verdicts {
    try verdicts(HTTPRequest(method: "POST", path: path, body: Array(body.utf8)))
  }
}

struct NothingToPublish: Error {}

extension Verdicts {
  /// The events to be published, decoded.
  func envelopes() throws -> [EventEnvelope] {
    try (0..<events.count).map { index in
      let payload = Array(events.payloads[events.range(of: index)])
      let envelope = try unsafe EventEnvelope(payload: payload.span.bytes)
      #expect(Array(envelope.topic.utf8) == events.name(of: index))
      return envelope
    }
  }

  /// The code of each event in order; `STORED` for those to be published.
  var codes: [String] {
    entries.map { if case .refused(_, let refusal) = $0 { refusal.code } else { "STORED" } }
  }

  var messageIDs: [String] {
    entries.map { entry in
      switch entry {
      case .taken(_, let id): String(decoding: events.payloads[id], as: UTF8.self)
      case .refused(let id, _): String(decoding: id, as: UTF8.self)
      }
    }
  }
}
