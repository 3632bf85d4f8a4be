// What providers answer, what they are sent, and the file that says how.
//
//   destination-answer  [status u8][seconds u8][body]: every verdict names events of the request alone
//                       and waits no longer than is allowed; the next request can be made
//   destination-item    [name, to U+0000][payload]: an item that is ready is JSON
//   mapping             a mapping file; whatever it makes of an event is JSON
#if DEBUG || FUZZING
  @testable internal import Destinations
  internal import EventCodec
  internal import EventModel
  internal import HTTPClient
  internal import Primitives

  let destinationTargets = [
    FuzzTarget("destination-answer", seeds: answers, run: readAnswer),
    FuzzTarget("destination-item", seeds: payloads, run: makeItem),
    FuzzTarget(
      "mapping",
      seeds: [
        #"""
        {"segment": {"include": ["Game *"], "exclude": ["Game Reset"], "rename": {"A": "B"}, "properties": [
        {"events": ["Game Ended"], "drop": ["email", "phone*"], "rename": {"a": "b"}}, {"keep": ["value"]}]}}
        """#, #"{"*": {"exclude": ["*"]}}"#,
      ], run: readMapping),
  ]

  private let statuses = [200, 201, 204, 301, 400, 401, 404, 408, 413, 422, 429, 500, 503, 0, 999]

  private let answers: [[UInt8]] = [
    #"{"server_ts": 1700000100, "enabled": true}"#,
    #"{"events": [{"status": 413, "message": "m"}, {"status": 201}, {"status": 400, "field": "f"}]}"#,
    #"{"code": 400, "status": "Bad", "failed_records": [{"index": 1, "insert_id": "i", "field": "f", "message": "m"}]}"#,
    #"{"code": 429, "details": {"hot_shards": ["u-1"]}, "error": "limit"}"#,
    #"[{"errors": [{"error_type": "length", "path": "/event_id"}], "event": {}}, {"index": 2}]"#,
    "<html>",
  ].enumerated().flatMap { index, body in
    [0, 4, 10].map { [UInt8($0), UInt8(index)] + Array(body.utf8) }
  }

  private let now = Timestamp(nanoseconds: received)

  /// One adapter of each, for `http://127.0.0.1/`.
  private func adapters() throws(Violation) -> [any DestinationAdapter] {
    let endpoint = try accepted("an address") { () throws(HTTPEndpointError) in
      try HTTPEndpoint("http://127.0.0.1/")
    }
    return [
      SegmentAdapter(SegmentConfiguration(endpoint: endpoint, writeKey: "k", gzipLevel: 0)),
      MixpanelAdapter(
        MixpanelConfiguration(endpoint: endpoint, credential: .token("t"), gzipLevel: 0)),
      GameAnalyticsAdapter(
        GameAnalyticsConfiguration(
          endpoint: endpoint, gameKey: "g", secretKey: [1], gzipLevel: 0)),
      WebhookAdapter(WebhookConfiguration(endpoint: endpoint)),
    ]
  }

  private func readAnswer(_ input: [UInt8]) throws(Violation) {
    guard input.count >= 2 else { return }
    let reply = HTTPReply(
      status: statuses[Int(input[0]) % statuses.count],
      headers: [HTTPHeader("retry-after", String(input[1]))], body: Array(input.dropFirst(2)),
      isBodyCut: input[0] >= 200)
    for var adapter in try adapters() {
      _ = adapter.opened(reply, at: now)
      let verdict = adapter.verdict(reply, count: 3, at: now)
      switch verdict {
      case .partial(let refused), .refusedOnly(let refused):
        try require(refused.keys.allSatisfy((0..<3).contains), "\(adapter.name): \(verdict)")
      case .hold(let items, let time, _):
        try require(items.allSatisfy((0..<3).contains), "\(adapter.name): \(verdict)")
        try require(time >= .zero, "\(adapter.name): \(verdict)")
      case .pause(let time?, _):
        try require(time <= DeliveryVerdict.longestPause, "\(adapter.name): \(verdict)")
      default: break
      }
      _ = adapter.call([Array(#"{"client_ts":1700003600,"a":1}"#.utf8)], sentAt: now)
    }
  }

  private func makeItem(_ input: [UInt8]) throws(Violation) {
    let (name, payload) = input.parted(at: 0)
    // The adapters read what the broker has passed, and damaged dead letters.
    for var adapter in try adapters() {
      var item: [UInt8] = []
      let preparation = unsafe adapter.prepare(
        name.span.bytes, payload.span.bytes, EventSource(position: nil, received: now), into: &item)
      guard preparation == .ready else { continue }
      let walked = answer { () throws(PayloadError) in
        try PayloadWalker.check(unsafe payload.span.bytes, name: unsafe name.span.bytes)
      }
      guard case .success = walked else { continue }
      let json = answer { () throws(CodecError) in
        try JSONValuePacker.pack(unsafe item.span.bytes, depth: 40)
      }
      // The walker does not search for keys that stand twice.
      if case .failure(let error) = json, error.reason != .duplicateKey {
        throw Violation(description: "\(adapter.name): \(error) in \(item.text)")
      }
    }
  }

  private func readMapping(_ input: [UInt8]) throws(Violation) {
    guard case .success(let file) = answer({ () throws(MappingError) in try MappingFile(input) })
    else { return }
    for destination in MappingFile.destinations { try apply(file.mapping(for: destination)) }
  }

  /// Whatever a mapping does to an event, what is left of it is JSON.
  private func apply(_ mapping: DestinationMapping) throws(Violation) {
    let endpoint = try accepted("an address") { () throws(HTTPEndpointError) in
      try HTTPEndpoint("http://127.0.0.1/")
    }
    var adapter = SegmentAdapter(
      SegmentConfiguration(endpoint: endpoint, writeKey: "k", gzipLevel: 0, mapping: mapping))
    for (name, payload) in payloads.map({ $0.parted(at: 0) }) {
      var item: [UInt8] = []
      let preparation = unsafe adapter.prepare(
        name.span.bytes, payload.span.bytes, EventSource(position: nil, received: now), into: &item)
      guard preparation == .ready else { continue }
      try accepted(item.text) { () throws(CodecError) in
        _ = try JSONValuePacker.pack(unsafe item.span.bytes, depth: 40)
      }
    }
  }
#endif
