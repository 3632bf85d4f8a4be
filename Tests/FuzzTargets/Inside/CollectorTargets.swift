// Bodies of requests, and the files that say what becomes of them.
//
//   collector  [route u8][body]: what is accepted is a payload of the bus under its name; each event has
//              one verdict; a refusal of the body is a 4xx
//   request-head  [header: value]...: only who shows the key may write, and no answer carries a header
//              that breaks its line
//   rules      a file of property rules
#if DEBUG || FUZZING
  @testable internal import Collector
  internal import BusClient
  internal import EventCodec
  internal import EventModel
  internal import HTTPServer
  internal import Hashing
  internal import Primitives

  let collectorTargets = [
    FuzzTarget("collector", seeds: bodies, run: collect),
    FuzzTarget(
      "rules",
      seeds: [
        #"{"rules": [{"events": ["Game *"], "drop": ["email", "phone*"], "hash": ["ip"]}]}"#,
        #"[{"drop": ["a.b"]}]"#, #"{"salt": "x", "rules": []}"#,
      ], run: readRules),
    FuzzTarget(
      "request-head",
      seeds: [
        "Authorization: Basic czNjcmV0Og==\nOrigin: https://a.b", "authorization: basic czNjcmV0",
        "?writeKey: s3cret\nOrigin: null\nAccess-Control-Request-Headers: content-type",
        "?api_key: guess\nAuthorization: Bearer s3cret",
      ], run: readHead),
  ]

  private let paths = CollectorRoute.paths.keys.sorted()

  private let bodies: [[UInt8]] = {
    let events = jsonEvents.joined(separator: ",")
    let texts: [(String, String)] = [
      ("/v1/track", jsonEvents[1]), ("/v1/identify", jsonEvents[2]), ("/v1/alias", jsonEvents[4]),
      (
        "/v1/batch",
        #"{"batch": [\#(events)], "sentAt": "2024-05-01T12:00:00Z", "context": {"a": 1}}"#
      ),
      ("/v1/events", "[\(events)]"),
      ("/track", "data=eyJldmVudCI6ICJBIn0="),
      ("/track", #"{"event": "A", "properties": {"token": "t", "time": 1.5, "$insert_id": "i"}}"#),
      ("/import", #"[{"event": "A", "properties": {"time": 1, "distinct_id": "$device:d"}}]"#),
      ("/engage", #"{"$distinct_id": "u", "$set": {"a": 1}, "$add": {"b": 2}}"#),
      ("/groups", #"{"$group_key": "k", "$group_id": "g", "$set": {"a": []}}"#),
    ]
    return texts.map { path, body in [UInt8(paths.firstIndex(of: path) ?? 0)] + Array(body.utf8) }
  }()

  private func collect(_ input: [UInt8]) throws(Violation) {
    let (choice, body) = input.chosen
    let path = paths[choice % paths.count]
    guard let route = CollectorRoute.named(path) else { return }
    let headers = choice >= 128 ? [HTTPRequest.Field("Content-Type", "application/x-ndjson")] : []
    let request = HTTPRequest(method: "POST", path: path, headers: headers, body: body)
    var core = CollectorCore(keys: WriteKeys([]), maximumBodyBytes: 1 << 20, rules: PropertyRules())
    let decision = answer { () throws(RequestFailure) in
      try core.decide(request, route, receivedAt: received)
    }
    switch decision {
    case .failure(let failure): try require((400..<500).contains(failure.status), "\(failure)")
    case .success(.answer): return
    case .success(.publish(let verdicts)):
      try require(verdicts.events.count == verdicts.accepted, "\(verdicts.accepted) accepted")
      for index in 0..<verdicts.events.count {
        try checkPayload(
          Array(verdicts.events.payloads[verdicts.events.range(of: index)]),
          topic: verdicts.events.name(of: index))
      }
    }
  }

  private let guarded = WriteKeys(["s3cret"])

  private func readHead(_ input: [UInt8]) throws(Violation) {
    var request = HTTPRequest(method: "OPTIONS", path: "/v1/track")
    var shown: [[UInt8]] = []
    for line in input.split(separator: 0x0A).prefix(32) {
      let (name, value) = Array(line).parted(at: UInt8(ascii: ":"))
      let text = Array(value.drop { $0 == 0x20 }).text
      if name.first == UInt8(ascii: "?") {
        request.query.append(.init(Array(name.dropFirst()).text, text))
        shown.append(Array(text.utf8))
      } else {
        request.headers.append(.init(name.text, text))
        for word in text.split(separator: " ") {
          if let key = Base64.decode(String(word)) { shown.append(key) }
        }
      }
    }
    if guarded.allow(WriteKeys.shown(by: request)) {
      try require(shown.contains { $0.starts(with: "s3cret".utf8) }, "let in by \(input.text)")
    }
    for header in CrossOrigin.preflight(request).headers {
      try require(header.value.utf8.allSatisfy { 0x20...0x7E ~= $0 }, "\(header)")
    }
  }

  private func readRules(_ input: [UInt8]) throws(Violation) {
    _ = answer { () throws(RulesError) in try PropertyRules(json: input) }
  }
#endif
