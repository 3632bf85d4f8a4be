import Primitives
import ServiceRuntime
import Synchronization
import Testing

@Suite struct LogTests {
  /// Collects lines under a clock that the test moves.
  private final class Recorder: Sendable {
    let lines = Mutex<[String]>([])
    let time = Mutex<Int64>(1_764_496_800_000_000_000)

    func log(_ format: LogFormat = .text, level: LogLevel = .info, isColoured: Bool = false) -> Log
    {
      Log(
        level: level, format: format, label: "broker", isColoured: isColoured,
        now: { self.time.withLock { $0 } }
      ) { (line) throws(SystemError) in
        self.lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
      }
    }
    var written: [String] { lines.withLock { $0 } }
  }

  @Test func `a text line has time, level, label, message and fields`() {
    let recorder = Recorder()
    recorder.log().info(
      "opened", LogField("path", "/a b"), LogField("events", 3), LogField("e", ""))
    #expect(
      recorder.written == [
        "2025-11-30T10:00:00.000Z info    broker: opened path=\"/a b\" events=3 e=\"\"\n"
      ])
  }

  @Test func `a JSON line is one object`() {
    let recorder = Recorder()
    recorder.log(.json).error("failed", LogField("why", "no\nspace"))
    #expect(
      recorder.written == [
        #"{"time":"2025-11-30T10:00:00.000Z","level":"error","service":"broker","#
          + #""message":"failed","why":"no\nspace"}"# + "\n"
      ])
  }

  @Test(arguments: [LogFormat.text, .json])
  func `control characters of events are never passed on`(format: LogFormat) {
    let recorder = Recorder()
    let evil = "\u{1B}[31m\u{9B}2J\nx"
    recorder.log(format).labelled(evil).warning(evil, LogField(evil, .text(evil)))
    let bytes = recorder.written.joined().dropLast()
    #expect(
      bytes.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) })
  }

  @Test func `only a coloured log has colours`() {
    let recorder = Recorder()
    recorder.log(isColoured: true).error("x")
    #expect(recorder.written[0].contains("\u{1B}[31merror\u{1B}[0m"))
  }

  @Test func `lines below the level are not made`() {
    let recorder = Recorder()
    let made = Mutex(0)
    recorder.log(level: .warning).info(
      made.withLock {
        $0 += 1; return "x"
      })
    #expect(made.withLock { $0 } == 0)
    #expect(recorder.written.isEmpty)
  }

  @Test func `a repeated line is counted and the count is told`() {
    let recorder = Recorder()
    let log = recorder.log()
    for _ in 0..<5 { log.warning("full") }
    #expect(recorder.written.count == 1)
    recorder.time.withLock { $0 += 10_000_000_000 }
    log.warning("full")
    #expect(recorder.written.count == 3)
    #expect(recorder.written[1].contains("full: repeated 4 times"))
    log.warning("full")
    log.info("other")
    #expect(recorder.written[3].contains("full: repeated 1 time"))
    #expect(recorder.written[4].contains("other"))
  }

  @Test func `news that differ in a field are all told, faults that do are counted`() {
    let recorder = Recorder()
    let log = recorder.log()
    for name in ["broker", "collector"] { log.info("ready", LogField("name", .text(name))) }
    #expect(recorder.written.count == 2)
    for offset in ["1", "2"] { log.warning("unreadable", LogField("offset", .text(offset))) }
    #expect(recorder.written.count == 3)
  }

  @Test func `a change of state is told each time and at once`() {
    let recorder = Recorder()
    let log = recorder.log()
    for _ in 0..<2 {
      log.change(.warning, "service died", LogField("name", "broker"))
      log.change(.info, "service ready", LogField("name", "broker"))
    }
    #expect(recorder.written.count == 4)
    #expect(recorder.written[2].contains("service died name=broker"))
    #expect(recorder.written[3].contains("service ready name=broker"))
  }

  @Test func `lines that take turns are counted too`() {
    let recorder = Recorder()
    let log = recorder.log()
    for _ in 0..<100 {
      log.warning("full")
      log.error("lost")
    }
    #expect(recorder.written.count == 2)
    recorder.time.withLock { $0 += 10_000_000_000 }
    log.warning("full")
    #expect(recorder.written.count == 5)
    #expect(recorder.written[2].contains("full: repeated 99 times"))
    #expect(recorder.written[3].contains("lost: repeated 99 times"))
  }

  @Test func `of many different lines the oldest are written again`() {
    let recorder = Recorder()
    let log = recorder.log()
    for _ in 0..<2 { for number in 0..<17 { log.info("line \(number)") } }
    #expect(recorder.written.count == 34)
    for number in 1..<17 { log.info("line \(number)") }
    #expect(recorder.written.count == 34)
  }

  @Test func `a log that cannot be written is counted`() {
    let log = Log(level: .info, format: .text, label: "", isColoured: false) {
      (_) throws(SystemError) in
      throw SystemError(call: "write", code: 5)
    }
    log.info("a")
    log.info("b")
    #expect(log.droppedCount == 2)
  }
}
