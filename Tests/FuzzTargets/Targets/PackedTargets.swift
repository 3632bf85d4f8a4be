// MessagePack, as it comes from other programs.
//
//   messagepack-reader  each byte of the first half calls one function on the second half: whatever is
//                       asked of whatever bytes, the position stays inside, and a refusal names a place
//                       inside
//   messagepack-value   what decodes as a value encodes, and decodes equal; it has canonical JSON, and
//                       that text reads back as what has the same JSON
internal import EventCodec
internal import EventModel
internal import Primitives

let packedTargets = [
  FuzzTarget(
    "messagepack-reader",
    seeds: [
      [5, 9, 5, 0xFF, 0x82, 0xA1, 0x61, 0x01, 0xA1, 0x62, 0x93, 0xC0, 0xC3, 0xCB],
      [7, 0xFF, 0xD9, 0x03, 0x61, 0x62, 0x63], [2, 0xFF, 0xCF, 1, 2, 3, 4, 5, 6, 7, 8],
      [8, 0xFF, 0xC4, 2, 1, 2], [10, 0xFF, 0xC7, 1, 2, 3],
    ], run: readInAnyOrder),
  FuzzTarget("messagepack-value", seeds: packedValues, run: readValue),
]

let packedValues: [[UInt8]] = [
  [0xC0], [0xC2], [0x7F], [0xE0], [0xCC, 200], [0xD3, 0xFF, 0, 0, 0, 0, 0, 0, 0],
  [0xCF, 0xFF, 0, 0, 0, 0, 0, 0, 0], [0xCA, 0x3F, 0x80, 0, 0],
  [0xCB, 0x3F, 0xF0, 0, 0, 0, 0, 0, 1],
  [0xA3, 0x61, 0xC3, 0xA4], [0xD9, 2, 0x22, 0x5C], [0xDA, 0, 1, 0x7F], [0xDC, 0, 1, 0xC0],
  [0x82, 0xA1, 0x61, 0x91, 0x01, 0xA1, 0x62, 0x80], [0xDE, 0, 1, 0xA0, 0xC3],
]

private func readInAnyOrder(_ input: [UInt8]) throws(Violation) {
  let (script, bytes) = input.parted(at: 0xFF)
  var position = 0
  for step in script.prefix(64) {
    let result = answer { () throws(MessagePackError) in
      var reader = unsafe MessagePackReader(bytes.span.bytes, at: position)
      try call(step, &reader)
      return reader.position
    }
    switch result {
    case .success(let next):
      try require(
        (position...bytes.count).contains(next), "\(step) went from \(position) to \(next)")
      position = next
    case .failure(let error):
      try require((0...bytes.count).contains(error.position), "\(error)")
      return
    }
  }
}

private func call(_ step: UInt8, _ reader: inout MessagePackReader) throws(MessagePackError) {
  switch step % 12 {
  case 0: _ = try reader.readNilIfPresent()
  case 1: _ = try reader.readBool()
  case 2: _ = try reader.readInt()
  case 3: _ = try reader.readUInt()
  case 4: _ = try reader.readDouble()
  case 5: _ = try reader.readMapHeader()
  case 6: _ = try reader.readArrayHeader()
  case 7: _ = try reader.readString()
  case 8: _ = try reader.readBinary().byteCount
  case 9: _ = try reader.readStringRange()
  case 10: try reader.skip()
  default: _ = try reader.peek()
  }
}

private func readValue(_ input: [UInt8]) throws(Violation) {
  let result = answer { () throws(MessagePackError) in
    var reader = unsafe MessagePackReader(input.span.bytes)
    return try PropertyValue(from: &reader)
  }
  guard case .success(let value) = result else { return }
  var writer = PropertyWriter()
  writer.write(value)
  let bytes = writer.output.bytes
  let again = try accepted("what was written") { () throws(MessagePackError) in
    var reader = unsafe MessagePackReader(bytes.span.bytes)
    return try PropertyValue(from: &reader)
  }
  var second = PropertyWriter()
  second.write(again)
  try require(bytes == second.output.bytes, "\(value) became \(again)")
  try checkJSON(bytes)
}

/// The canonical JSON of a value reads back, and then has the same JSON.
func checkJSON(_ packed: [UInt8]) throws(Violation) {
  let json = try accepted("JSON of a value") { () throws(CodecError) in
    try canonical(value: packed)
  }
  let again = try accepted("canonical JSON is JSON") { () throws(CodecError) in
    try JSONValuePacker.pack(unsafe json.span.bytes, depth: EventLimits.maximumContainers)
  }
  let second = try accepted("JSON of JSON") { () throws(CodecError) in
    try canonical(value: again)
  }
  try require(json == second, "\(json.text) became \(second.text)")
}

func canonical(value: [UInt8]) throws(CodecError) -> [UInt8] {
  var json: [UInt8] = []
  try CanonicalJSON.append(value: unsafe value.span.bytes, to: &json)
  return json
}
