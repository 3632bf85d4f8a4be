// What an app's client is answered.
//
//   client-answer  [status u8][Retry-After][newline][body]: the events that it takes for refused are of
//                  the batch, no wait is longer than the longest, no reason holds a control character
#if DEBUG || FUZZING
  @testable internal import Analytics
  internal import Primitives

  let clientTargets = [
    FuzzTarget(
      "client-answer",
      seeds: [
        "\u{0}\n" + #"{"results":[{"index":1,"code":"BAD_NAME","reason":"it is empty"}]}"#,
        "\u{0}\n<!DOCTYPE html><html>", "\u{4}120\n{}", "\u{7}Wed, 21 Oct 2015 07:28:00 GMT\nno",
      ], run: readAnswer)
  ]

  private let statuses = [200, 204, 301, 400, 429, 413, 401, 503, 100, 0, -1, 600]

  private func readAnswer(_ input: [UInt8]) throws(Violation) {
    let (choice, rest) = input.chosen
    let (wait, body) = rest.parted(at: 0x0A)
    let status = statuses[choice % statuses.count]
    let outcome = RequestOutcome(
      AnalyticsResponse(status: status, headers: [.init("Retry-After", wait.text)], body: body),
      events: 3, at: Timestamp(nanoseconds: received), longest: .seconds(60))
    switch outcome {
    case .delivered(let refused):
      try require((200..<300).contains(status), "\(status) delivers")
      try require(refused.keys.allSatisfy((0..<3).contains), "\(refused)")
    case .failed(let reason, let wait):
      try require(
        wait.map { (.zero ... .seconds(60)).contains($0) } ?? true, "waits \(wait as Any)")
      try requirePlain(reason)
    case .tooLarge(let reason), .rejected(let reason), .misconfigured(let reason):
      try requirePlain(reason)
    }
  }

  private func requirePlain(_ reason: String) throws(Violation) {
    try require(reason.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }, reason)
  }
#endif
