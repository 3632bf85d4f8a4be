// Events as they are handed in, and as they travel.
//
//   json-event    one event as JSON
//   json-value    one value as JSON
//   plain-event   [name, to the first U+0000][payload], as a PUB or PUSH socket sends it
//   payload       [name, to the first U+0000][payload] as a producer sends it
//   where         [condition, to the first newline][event as JSON]
//   lines         a stream of lines, cut into pieces by the first byte
//
// What is taken is a payload that the broker's walker passes, that decodes, and whose canonical JSON is
// taken again and stays as it is. What is refused names a byte of the input and leaves nothing behind.
internal import EventCodec
internal import EventModel
internal import Primitives

let eventTargets = [
  FuzzTarget("json-event", seeds: jsonEvents, run: readJSONEvent),
  FuzzTarget("json-value", seeds: jsonValues, run: readJSONValue),
  FuzzTarget("plain-event", seeds: plainEvents, run: readPlainEvent),
  FuzzTarget("payload", seeds: payloads, run: walkPayload),
  FuzzTarget(
    "where",
    seeds: [
      "properties.value>=21", "userId=u-1", "properties.list.0~\"a\"", "properties.a\\.b!=1.5",
      "event<Game", "properties.p.plan=null",
    ].map { $0 + "\n" + jsonEvents[1] }, run: judge),
  FuzzTarget(
    "lines",
    seeds: ["\u{3}a\nb\r\n\n  \nlast", "\u{1}\u{FEFF}{}\n{}", "\u{2}long, longer, longest\n"],
    run: readLines),
]

let jsonEvents = [
  #"{"event": "Game Ended", "properties": {"Winning Player": "first", "value": 21}}"#,
  #"""
  {"type": "track", "event": "A", "messageId": "m", "userId": "u-1", "anonymousId": null,
  "timestamp": "2024-05-01T12:00:00.5+02:00", "context": {"app": {"name": "x"}},
  "integrations": {"All": false}, "properties": {"list": ["a", 1, -1.5e3, true, null], "a.b": "\u00e4\ud83d\ude00\n",
  "value": 21, "p": {"plan": null}}}
  """#,
  #"{"type": "identify", "userId": "u", "traits": {"n": 18446744073709551615}, "timestamp": 1700000000}"#,
  #"{"type": "page", "name": "n", "category": "c", "anonymousId": "a"}"#,
  #"{"type": "alias", "userId": "u", "previousId": "p", "sentAt": "no time", "receivedAt": 1e30}"#,
  #"{"type": "group", "groupId": "g", "traits": {}, "version": 2, "other": [[[]]]}"#,
]

private let jsonValues = [
  "null", "true", "[1, 2.5, -0, 0.1e-7, 9223372036854775808]",
  #"{"a": {"b": [{}, []]}, "": "\\\/"}"#,
  #""\ud83d\ude00 \u2028 ä""#, " 12345678901234567890 ", "1e308", "5e-324",
]

private let plainEvents: [[UInt8]] =
  jsonEvents.map { Array("Game Ended\0\($0)".utf8) } + [
    Array(#"A"#.utf8) + [0] + Array(#"{"value": 1}"#.utf8),
    Array("A".utf8) + [0, 0x81, 0xA1, 0x61, 0x01],
    Array("$identify\0".utf8) + [0x82, 0xA4] + Array("type".utf8) + [0xA8]
      + Array("identify".utf8) + [0xA6] + Array("traits".utf8) + [0x80],
  ]

let payloads: [[UInt8]] = jsonEvents.compactMap { text in
  var reader = JSONEventReader()
  var payload: [UInt8] = []
  let bytes = Array(text.utf8)
  let topic = answer { () throws(CodecError) in
    try reader.read(unsafe bytes.span.bytes, received: received, id: givenID, into: &payload)
  }
  guard case .success(let topic) = topic else { return nil }
  return topic + [0] + payload
}

let received: Int64 = 1_700_000_000_000_000_000
private let givenID = UUIDv7(high: 0x0190_0000_0000_7000, low: 0x8000_0000_0000_0001)

/// Long texts grow when they are escaped; what follows must not fail for its length.
private let roomy = CodecLimits(eventBytes: 16 << 20)

private func readJSONEvent(_ input: [UInt8]) throws(Violation) {
  guard let taken = try read(input) else { return }
  try checkPayload(taken.payload, topic: taken.topic)
}

private func read(
  _ input: [UInt8]
) throws(Violation) -> (topic: [UInt8], payload: [UInt8])? {
  var reader = JSONEventReader(limits: roomy)
  var output: [UInt8] = [1, 2, 3]
  let result = answer { () throws(CodecError) in
    try reader.read(unsafe input.span.bytes, received: received, id: givenID, into: &output)
  }
  switch result {
  case .success(let topic): return (topic, Array(output.dropFirst(3)))
  case .failure(let error):
    try require((0...input.count).contains(error.position), "\(error)")
    try require(output == [1, 2, 3], "\(error) left \(output.count) bytes")
    return nil
  }
}

/// What holds of every payload that was taken in.
func checkPayload(_ payload: [UInt8], topic: [UInt8]) throws(Violation) {
  try accepted("the walker") { () throws(PayloadError) in
    try PayloadWalker.check(unsafe payload.span.bytes, name: unsafe topic.span.bytes)
  }
  try accepted("the topic") { () throws(EventNameError) in
    try EventName.validate(topic: unsafe topic.span.bytes)
  }
  let envelope = try accepted("the envelope") { () throws(CodecError) in
    try EventEnvelope(payload: unsafe payload.span.bytes)
  }
  var encoded: [UInt8] = []
  envelope.appendPayload(to: &encoded)
  let text = try accepted("canonical JSON") { () throws(CodecError) in try canonical(payload) }
  let encodedText = try accepted("canonical JSON, encoded again") { () throws(CodecError) in
    try canonical(encoded)
  }
  try require(text == encodedText, "\(text.text) became \(encodedText.text)")
  guard let again = try read(text) else {
    throw Violation(description: "refused its own JSON: \(text.text)")
  }
  try require(again.topic == topic, "another topic: \(again.topic.text)")
  let second = try accepted("canonical JSON, read again") { () throws(CodecError) in
    try canonical(again.payload)
  }
  try require(text == second, "\(text.text) became \(second.text)")
}

private func canonical(_ payload: [UInt8]) throws(CodecError) -> [UInt8] {
  var json: [UInt8] = []
  try CanonicalJSON.append(unsafe payload.span.bytes, to: &json)
  return json
}

private func readJSONValue(_ input: [UInt8]) throws(Violation) {
  let result = answer { () throws(CodecError) in
    try JSONValuePacker.pack(unsafe input.span.bytes)
  }
  let value = answer { () throws(CodecError) in try PropertyValue(json: unsafe input.span.bytes) }
  switch result {
  case .success(let packed):
    try checkJSON(packed)
    let value = try accepted("PropertyValue") { () throws(CodecError) in try value.get() }
    var writer = PropertyWriter()
    writer.write(value)
    let one = try accepted("its JSON") { () throws(CodecError) in try canonical(value: packed) }
    let other = try accepted("its JSON") { () throws(CodecError) in
      try canonical(value: writer.output.bytes)
    }
    try require(one == other, "\(one.text) and \(other.text)")
  case .failure(let error):
    try require((0...input.count).contains(error.position), "\(error)")
  }
}

private func readPlainEvent(_ input: [UInt8]) throws(Violation) {
  let (name, payload) = input.parted(at: 0)
  var reader = PlainEventReader(limits: roomy)
  var output: [UInt8] = [1, 2, 3]
  let result = answer { () throws(CodecError) in
    try reader.read(
      name: unsafe name.span.bytes, payload: unsafe payload.span.bytes, received: received,
      into: &output)
  }
  switch result {
  case .success(let topic): try checkPayload(Array(output.dropFirst(3)), topic: topic)
  case .failure(let error):
    try require(output == [1, 2, 3], "\(error) left \(output.count) bytes")
  }
}

private func walkPayload(_ input: [UInt8]) throws(Violation) {
  let (name, payload) = input.parted(at: 0)
  let walked = answer { () throws(PayloadError) in
    try PayloadWalker.check(unsafe payload.span.bytes, name: unsafe name.span.bytes)
  }
  let envelope = answer { () throws(CodecError) in
    try EventEnvelope(payload: unsafe payload.span.bytes)
  }
  let text = answer { () throws(CodecError) in try canonical(payload) }
  lookUp(payload)
  switch walked {
  case .failure(let error): try require((0...payload.count).contains(error.position), "\(error)")
  case .success:
    let json = try accepted("canonical JSON of what the walker passed") { () throws(CodecError) in
      try text.get()
    }
    // The walker does not search for keys that stand twice; these two do.
    if case .failure(let error) = envelope {
      try require(error.reason == .duplicateKey, "the walker passed what does not decode: \(error)")
      return
    }
    _ = try accepted("canonical JSON is JSON") { () throws(CodecError) in
      try JSONValuePacker.pack(unsafe json.span.bytes, depth: EventLimits.maximumContainers + 1)
    }
  }
}

/// Looking fields up throws or answers, whatever the bytes.
private func lookUp(_ payload: [UInt8]) {
  for path in ["type", "properties.a", "context.app.name", "properties.list.0", "0.1"] {
    _ = answer { () throws(MessagePackError) in
      try PayloadReader(unsafe payload.span.bytes).value(at: WhereClause.keys(ofPath: path))
    }
  }
  _ = answer { () throws(MessagePackError) in
    let reader = unsafe PayloadReader(payload.span.bytes)
    _ = try reader.timestamp()
    _ = try reader.text("userId")
    _ = try reader.properties()
  }
  _ = answer { () throws(CodecError) in try ForgetRequest(payload: unsafe payload.span.bytes) }
}

private func judge(_ input: [UInt8]) throws(Violation) {
  let (text, event) = input.parted(at: 0x0A)
  guard
    case .success(let clause) = answer({ () throws(WhereClause.SyntaxError) in
      try WhereClause(text.text)
    })
  else { return }
  let payload = try read(event)?.payload ?? event
  let isMatch = clause.matches(unsafe payload.span.bytes)
  // Times are numbers inside and texts outside, so their own value is no comparison.
  let isTime = clause.path.count == 1 && ["timestamp", "receivedAt"].contains(clause.path[0].text)
  let found = answer { () throws(MessagePackError) in
    try PayloadReader(unsafe payload.span.bytes).range(at: clause.path)
  }
  guard !isTime, case .success(let range) = found else { return }
  let json = range.flatMap { range in
    let value = Array(payload[range])
    return try? answer { () throws(CodecError) in try canonical(value: value) }.get()
  }
  guard range == nil || json != nil else { return }
  let isMatchInJSON =
    if let json { clause.matches(json: unsafe json.span.bytes) } else {
      clause.matches(json: nil)
    }
  try require(isMatch == isMatchInJSON, "\(isMatch) of the payload, \(isMatchInJSON) of its JSON")
}

/// However a stream is cut into pieces, its lines are the same, and none is longer than allowed.
private func readLines(_ input: [UInt8]) throws(Violation) {
  let (size, stream) = input.chosen
  let whole = lines(stream, piece: max(1, stream.count))
  let pieces = lines(stream, piece: 1 + size % 16)
  try require(whole == pieces, "\(whole) became \(pieces)")
  for case .text(let line) in whole.map(\.line) {
    try require(line.count <= 12 && !line.contains(0x0A), "\(line)")
  }
}

private func lines(_ stream: [UInt8], piece: Int) -> [LineReader.Numbered] {
  var found: [LineReader.Numbered] = []
  var reader = LineReader(maximumBytes: 12)
  _ = answer { () throws(LineReader.WrongEncoding) in
    for start in stride(from: 0, to: stream.count, by: piece) {
      try reader.feed(stream[start..<min(start + piece, stream.count)]) {
        found.append($0)
        return true
      }
    }
    try reader.finish {
      found.append($0)
      return true
    }
  }
  return found
}
