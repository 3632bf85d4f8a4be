// What travels between clients and the broker.
//
//   message   [kind u8][message]: what decodes encodes to what decodes to the same bytes again
//   batch     names, addressees and payloads of a batch that checks lie inside it, one after another,
//             and a batch built of them checks
//   delivery  the batches of a delivery lie inside it, one after another
internal import BusProtocol
internal import Primitives

let protocolTargets = [
  FuzzTarget("message", seeds: messages, run: readMessage),
  FuzzTarget("batch", seeds: batches, run: checkBatch),
  FuzzTarget("delivery", seeds: deliveries, run: readDelivery),
]

/// Decodes and encodes one kind of message.
private func recode(_ kind: Int, _ message: [UInt8]) throws(ProtocolError) -> [UInt8] {
  let span = unsafe message.span.bytes
  switch kind % 16 {
  case 0: return try HelloMessage(decoding: span).encode()
  case 1: return try WelcomeMessage(decoding: span).encode()
  case 2: return try RefuseMessage(decoding: span).encode()
  case 3: return try OpenMessage(decoding: span).encode()
  case 4: return try OpenedMessage(decoding: span).encode()
  case 5: return try GapMessage(decoding: span).encode()
  case 6: return try FetchMessage(decoding: span).encode()
  case 7:
    let request = try AdminMessage(decoding: span)
    if request.action == .seek { _ = try request.seekTarget() }
    return request.encode()
  case 8: return try ReplyMessage(decoding: span).encode()
  case 9: return try AcknowledgeMessage(decoding: span).encode(token: 1)
  case 10: return try CreditMessage(decoding: span).encode(token: 1)
  case 11: return try HeadMessage(decoding: span).encode(token: 1)
  case 12: return try CommitMessage(decoding: span).encode(.commit, token: 1)
  default: break
  }
  var bytes: [UInt8] = []
  switch kind % 16 {
  case 13:
    try PublishMessage(decoding: span).encode(token: 1, into: &bytes)
    bytes += message.dropFirst(PublishMessage.batchStart)
  case 14: try MessageHeader(decoding: span).encode(into: &bytes)
  default: try LiveMeta(decoding: span).encode(into: &bytes)
  }
  return bytes
}

private let messages: [[UInt8]] = {
  var refusal = RefuseMessage(token: 4, code: .overload, text: "later")
  refusal.events = [RefuseMessage.Event(index: 1, code: "BAD_NAME", text: "it is empty")]
  var seek = AdminMessage(request: 5, action: .seek)
  seek.setSeekTarget(.earliest)
  var meta: [UInt8] = []
  LiveMeta(epoch: 1, offset: 2, sequence: 3, time: 4).encode(into: &meta)
  var publish: [UInt8] = []
  PublishMessage(sequence: 2, previous: 1, round: 0).encode(token: 1, into: &publish)
  let position = Position(epoch: 1, offset: 7)
  let filters = [NameFilter(.glob, "Game *"), NameFilter(.exact, "A")]
  let all: [[UInt8]] = [
    HelloMessage(client: "c", producer: [1], instance: [2], mayForget: true).encode(),
    WelcomeMessage(
      token: 1, epoch: 1, storedSequence: 2, windowBytes: 3, broker: BrokerDescription()
    ).encode(),
    refusal.encode(),
    OpenMessage(client: "c", name: [65], filters: filters, start: .latest, instance: [1]).encode(),
    OpenedMessage(
      token: 1, cursor: position, earliest: 0, head: 9, seekGeneration: 1,
      epochs: [OpenedMessage.Epoch(epoch: 1, firstOffset: 0)], broker: BrokerDescription()
    ).encode(),
    GapMessage(token: 1, from: position, to: position, why: "gone").encode(),
    FetchMessage(request: 1, start: .earliest, filters: filters).encode(), seek.encode(),
    ReplyMessage(request: 1, result: ControlMap()).encode(),
    AcknowledgeMessage(sequence: 1, nextOffset: 2, windowBytes: 3).encode(token: 1),
    CreditMessage(events: 1, bytes: 2).encode(token: 1),
    HeadMessage(head: 1, lag: 2, isPaused: true).encode(token: 1),
    CommitMessage(cursor: position).encode(.commit, token: 1), publish + [0],
    HelloMessage(client: "", producer: [], instance: []).encode(), meta,
  ]
  return all.enumerated().map { [UInt8($0.offset)] + $0.element }
}()

private func readMessage(_ input: [UInt8]) throws(Violation) {
  let (choice, message) = input.chosen
  guard
    case .success(let once) = answer({ () throws(ProtocolError) in try recode(choice, message) })
  else {
    return
  }
  let twice = try accepted("its own encoding") { () throws(ProtocolError) in
    try recode(choice, once)
  }
  try require(once == twice, "\(once) became \(twice)")
}

private func sampleBatch(distances: Bool, addressees: [[UInt8]]) -> [UInt8] {
  var builder = BatchBuilder()
  var bytes: [UInt8] = []
  for (index, name) in ["A", "Game Ended", "A"].enumerated() {
    builder.payloads += [0x81, 0xA1, 0x61, UInt8(index)]
    builder.append(name: Array(name.utf8), distance: distances ? index * 3 : nil)
  }
  builder.build(into: &bytes, addressees: addressees)
  return bytes
}

private let batches = [
  sampleBatch(distances: false, addressees: []), sampleBatch(distances: true, addressees: []),
  sampleBatch(distances: true, addressees: [[65], [66, 67]]),
]

private func checkBatch(_ input: [UInt8]) throws(Violation) {
  let result = answer { () throws(ProtocolError) in try Batch(checking: unsafe input.span.bytes) }
  guard case .success(let batch) = result else { return }
  let names = unsafe batch.nameRanges(in: input.span.bytes)
  let addressees = unsafe batch.addresseeRanges(in: input.span.bytes)
  try require(names.count == batch.nameCount, "\(names.count) names")
  for range in names + addressees {
    try require(range.upperBound <= batch.payloadsStart, "\(range) reaches into the payloads")
  }
  var builder = BatchBuilder()
  var at = batch.payloadsStart
  var distance = -1
  for index in 0..<batch.eventCount {
    let entry = unsafe batch.entry(index, in: input.span.bytes, payloadAt: &at)
    try require(names.indices.contains(entry.name), "name \(entry.name)")
    try require(at <= input.count && entry.payload.upperBound == at, "payload \(entry.payload)")
    try require(entry.distance > distance, "distance \(entry.distance) after \(distance)")
    distance = entry.distance
    builder.payloads += input[entry.payload]
    builder.append(
      name: Array(input[names[entry.name]]), distance: batch.hasDistances ? distance : nil)
  }
  try require(at == input.count && distance == batch.lastDistance, "ends at \(at), \(distance)")
  var built: [UInt8] = []
  builder.build(into: &built, addressees: addressees.map { Array(input[$0]) })
  let again = try accepted("a batch of its events") { () throws(ProtocolError) in
    try Batch(checking: unsafe built.span.bytes)
  }
  try require(
    again.eventCount == batch.eventCount && again.lastDistance == batch.lastDistance
      && again.isAddressed == batch.isAddressed, "\(batch) became \(again)")
}

private let deliveries: [[UInt8]] = [0, 1, 3].map { count in
  var bytes: [UInt8] = []
  DeliveryMessage.begin(MessageHeader(.batch, token: 1), into: &bytes)
  for index in 0..<count {
    let range = 0..<batches[index].count
    Delivery(epoch: 1, base: UInt64(index) * 3, time: 4, range: range).encodeHeader(into: &bytes)
    bytes += batches[index]
  }
  DeliveryMessage.finish(&bytes, scannedTo: Position(epoch: 1, offset: 9), deliveries: count)
  return bytes
}

private func readDelivery(_ input: [UInt8]) throws(Violation) {
  let result = answer { () throws(ProtocolError) in
    try DeliveryMessage(decoding: unsafe input.span.bytes)
  }
  guard case .success(let message) = result else { return }
  var end = DeliveryMessage.headerBytes
  for delivery in message.deliveries {
    try require(delivery.range.lowerBound == end + Delivery.headerBytes, "\(delivery) after \(end)")
    end = delivery.range.upperBound
    try checkBatch(Array(input[delivery.range]))
  }
  try require(end == input.count, "ends at \(end) of \(input.count)")
}
