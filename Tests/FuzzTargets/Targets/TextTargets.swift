// Short texts that people and other servers write.
//
//   timestamp    what reads as a time has a text that reads as the same time; years 1971 to 2262
//   retry-after  [Retry-After]: nothing, or a wait from zero to the longest that is allowed
//   ready-line   a line of a service that was started; what reads is written as what reads the same
//   terminal     [columns u8][text]: what is shown holds no control character, and fits
internal import Primitives
internal import ServiceRuntime

let textTargets = [
  FuzzTarget(
    "timestamp",
    seeds: [
      "2024-05-01T12:00:00.123456789+02:00", "20240501T120000Z", "2024-122", "1700000000.5",
      "2016-12-31 23:59:60Z", "2024-05-01T24:00:00", "1700000000000000000", "2024-05-01t12:00,5-18",
    ], run: readTime),
  FuzzTarget(
    "retry-after",
    seeds: [
      "120", " 1.5 ", "Wed, 21 Oct 2015 07:28:00 GMT", "Wednesday, 21-Oct-15 07:28:00 GMT",
      "Wed Oct 21 07:28:00 2015", "-1",
    ], run: readWait),
  FuzzTarget(
    "ready-line",
    seeds: ["ready bus=tcp://127.0.0.1:7400 folder=/a%20b%25", "ready a=b=c x =y %=%zz", "ready"],
    run: readReady),
  FuzzTarget(
    "terminal",
    seeds: [
      "\u{5}a\u{1B}[2J\n\u{9B}", "\u{9}\u{65E5}\u{672C}e\u{301}\u{1F600}", "\u{1}\u{202E}abc",
    ],
    run: show),
]

private func readTime(_ input: [UInt8]) throws(Violation) {
  guard let time = unsafe Timestamp(text: input.span.bytes) else { return }
  let again = Timestamp(text: time.text)
  try require(again == time, "\(time.text) is \(time.nanoseconds), not \(again?.nanoseconds ?? -1)")
  let year = Int(time.text.prefix(4)) ?? 0
  try require((1971...2262).contains(year), "\(time.text)")
}

private func readWait(_ input: [UInt8]) throws(Violation) {
  for now in [0, 1_445_412_480_000_000_000, .max, .min] as [Int64] {
    let wait = RetryAfter.duration(
      input.text, at: Timestamp(nanoseconds: now), longest: .seconds(60))
    try require(
      wait.map { $0 >= .zero && $0 <= .seconds(60) } ?? true, "\(String(describing: wait))")
  }
}

private func readReady(_ input: [UInt8]) throws(Violation) {
  guard let line = ReadyLine(line: input.text) else { return }
  let again = ReadyLine(line: line.description)
  try require(again == line, "\(line) became \(again.map { "\($0)" } ?? "nothing")")
}

private func show(_ input: [UInt8]) throws(Violation) {
  let (columns, bytes) = input.chosen
  let text = TerminalText.escape(bytes.text)
  let isPlain = text.unicodeScalars.allSatisfy {
    $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value)
  }
  try require(isPlain, text)
  let cut = TerminalText.truncate(text, columns: columns)
  try require(TerminalText.width(cut) <= columns, "\(cut) takes more than \(columns)")
}
