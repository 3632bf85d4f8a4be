// Compressed bytes of others.
//
//   gzip  however it is cut into pieces (first byte), the content is the same and within the limit; what
//         is compressed comes back
//   zstd  a frame's content is within the limit and the reader moves on; what is compressed comes back
internal import Compression
internal import Primitives

let compressionTargets = [
  FuzzTarget("gzip", seeds: gzipFiles, run: gunzip),
  FuzzTarget("zstd", seeds: zstdFiles, run: unzstd),
]

private let contentLimit = 64 << 10
private let contents = ["", "a", String(repeating: "eventbus ", count: 40)].map { Array($0.utf8) }

private let gzipFiles: [[UInt8]] = contents.compactMap { content in
  try? accepted("gzip") { () throws(CompressionError) in [3] + (try zipped(content)) }
}

private let zstdFiles: [[UInt8]] = contents.compactMap { content in
  try? accepted("zstd") { () throws(CompressionError) in try framed(content) + framed(content) }
}

private func zipped(_ content: [UInt8]) throws(CompressionError) -> [UInt8] {
  var output: [UInt8] = []
  try Gzip.compress(unsafe content.span.bytes, into: &output)
  return output
}

private func framed(_ content: [UInt8]) throws(CompressionError) -> [UInt8] {
  var output: [UInt8] = []
  var writer = try ZstdFrameWriter()
  try writer.compress(unsafe content.span.bytes, into: &output)
  return output
}

private func gunzip(_ input: [UInt8]) throws(Violation) {
  let (size, file) = input.chosen
  let whole = answer { () throws(CompressionError) in
    try unzipped(file, piece: max(1, file.count), limit: contentLimit)
  }
  let pieces = answer { () throws(CompressionError) in
    try unzipped(file, piece: 1 + size % 32, limit: contentLimit)
  }
  switch (whole, pieces) {
  case (.success(let one), .success(let other)):
    try require(one.count <= contentLimit && one == other, "\(one.count) and \(other.count) bytes")
  case (.failure, .failure): break
  default: throw Violation(description: "whole: \(whole), in pieces: \(pieces)")
  }
  let back = try accepted("content that was compressed") { () throws(CompressionError) in
    try unzipped(try zipped(input), piece: 7, limit: input.count)
  }
  try require(back == input, "\(back.count) bytes came back")
}

private func unzipped(
  _ file: [UInt8], piece: Int, limit: Int
) throws(CompressionError) -> [UInt8] {
  var output: [UInt8] = []
  var stream = try GunzipStream()
  for start in stride(from: 0, to: file.count, by: piece) {
    let range = start..<min(start + piece, file.count)
    try stream.read(unsafe file.span.bytes.extracting(range), into: &output, limit: limit)
  }
  try stream.finish()
  return output
}

private func unzstd(_ input: [UInt8]) throws(Violation) {
  let frames = answer { () throws(CompressionError) in
    var reader = try ZstdFrameReader()
    var at = 0
    var ends: [Int] = []
    while at < input.count {
      var content: [UInt8] = []
      at = try reader.read(unsafe input.span.bytes, at: at, into: &content, limit: contentLimit)
      ends.append(at)
      if content.count > contentLimit { return [0] }
    }
    return ends
  }
  if case .success(let ends) = frames {
    try require(zip([0] + ends, ends).allSatisfy { $0 < $1 }, "frames end at \(ends)")
  }
  let back = try accepted("content that was compressed") { () throws(CompressionError) in
    var output: [UInt8] = []
    var reader = try ZstdFrameReader()
    let file = try framed(input)
    _ = try reader.read(unsafe file.span.bytes, at: 0, into: &output, limit: input.count)
    return output
  }
  try require(back == input, "\(back.count) bytes came back")
}
