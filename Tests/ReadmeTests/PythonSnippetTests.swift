import BusBroker
import TestSupport
import Testing

/// The README's Python, taken from it and run against a broker: only the ports differ.
@Suite(.timeLimit(.minutes(5)))
struct PythonSnippetTests {
  @Test func `Python follows one name, and gets what Python sends`() throws {
    let code = try Readme().code(in: "python")
    // The third, which shows keys, needs some.
    try #require(code.count == 3)
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    let subscriber = try ChildProcess(
      "/usr/bin/python3", ["-c", try code[0].at(broker.addresses.live, insteadOf: 7401)])
    let sender = try code[1].at(broker.addresses.push, insteadOf: 7403)
    // The subscriber says nothing before its first event, so we send until it has one.
    var line: String?
    for _ in 0..<40 where line == nil {
      let run = try ChildProcess.run("/usr/bin/python3", ["-c", sender])
      try #require(run.status == .exited(0), "\(String(decoding: run.errorOutput, as: UTF8.self))")
      line = subscriber.output.waitForLine(.milliseconds(250)) { _ in true }
    }
    let words = try #require(line, "\(subscriber.errorOutput.text)").split(
      separator: " ", maxSplits: 2)
    try #require(words.count == 3)
    // Only this name was published, so its sequences are one ahead of the offsets.
    #expect(UInt64(words[1]) == UInt64(words[0]).map { $0 + 1 })
    #expect(words[2] == "{'Winning Player': 'first', 'value': 21}")
    broker.stop()
    broker.join()
  }

  @Test func `what a plain PUB sends, a plain SUB of that name gets, and no other name`() throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    // A PUB cannot know when it is connected, so it sends until the SUB has something.
    let script = """
      import sys, zmq
      context = zmq.Context()
      publisher, subscriber = context.socket(zmq.PUB), context.socket(zmq.SUB)
      subscriber.connect(sys.argv[2])
      subscriber.subscribe(b"Game Ended\\0")
      publisher.connect(sys.argv[1])
      while not subscriber.poll(50):
          publisher.send_multipart([b"Game Ended Early", b"{}"])
          publisher.send_multipart([b"Game Ended", b'{"value": 21}'])
      print(subscriber.recv_multipart()[0])
      context.destroy(linger=0)
      """
    let addresses = broker.addresses
    let run = try ChildProcess.run(
      "/usr/bin/python3", ["-c", script, addresses.publish, addresses.live])
    #expect(String(decoding: run.output, as: UTF8.self) == "b'Game Ended\\x00'\n")
    #expect(run.status == .exited(0))
    broker.stop()
    broker.join()
  }
}

extension String {
  /// The snippet with another address in place of the usual one, which must be there once.
  func at(_ address: String, insteadOf port: Int) throws -> String {
    let parts = split(separator: "tcp://127.0.0.1:\(port)", omittingEmptySubsequences: false)
    try #require(parts.count == 2)
    return parts.joined(separator: address)
  }
}
