public import Primitives
internal import Synchronization

/// The program's log: one line a call on stderr, written at once by the calling thread.
///
/// A value, to be handed to whoever logs; copies share one state. Control characters never reach
/// the terminal. The same message again within ten seconds is counted instead of written, unless
/// it tells a change of state. A log that cannot be written is dropped and counted: no program stops for its log.
public struct Log: Sendable {
  /// Where formatted lines go.
  public typealias Sink = @Sendable ([UInt8]) throws(SystemError) -> Void

  public let label: String
  private let shared: Shared

  /// To stderr; coloured when that is a terminal and `NO_COLOR` is not set (`environment`).
  public init(
    level: LogLevel = .info, format: LogFormat = .text, label: String = "",
    environment: [String: String] = [:]
  ) {
    let isColoured = DescriptorWriter.isTerminal(2) && (environment["NO_COLOR"] ?? "").isEmpty
    self.init(level: level, format: format, label: label, isColoured: isColoured) {
      (line) throws(SystemError) in
      try unsafe DescriptorWriter.writeAll(line.span.bytes, to: 2)
    }
  }

  /// To a sink, by a clock of one's own.
  public init(
    level: LogLevel, format: LogFormat, label: String, isColoured: Bool,
    now: @escaping @Sendable () -> Int64 = SystemClock.realtime, sink: @escaping Sink
  ) {
    self.label = label
    shared = Shared(level: level, format: format, isColoured: isColoured, now: now, sink: sink)
  }

  private init(label: String, shared: Shared) {
    self.label = label
    self.shared = shared
  }

  /// The same log under another name.
  public func labelled(_ label: String) -> Log { Log(label: label, shared: shared) }

  public func isEnabled(_ level: LogLevel) -> Bool { level >= shared.level }

  public func trace(_ message: @autoclosure () -> String, _ fields: LogField...) {
    write(.trace, message, fields)
  }
  public func debug(_ message: @autoclosure () -> String, _ fields: LogField...) {
    write(.debug, message, fields)
  }
  public func info(_ message: @autoclosure () -> String, _ fields: LogField...) {
    write(.info, message, fields)
  }
  public func warning(_ message: @autoclosure () -> String, _ fields: LogField...) {
    write(.warning, message, fields)
  }
  public func error(_ message: @autoclosure () -> String, _ fields: LogField...) {
    write(.error, message, fields)
  }

  /// A change of state (`service died`): written at once each time, however often it was said.
  public func change(_ level: LogLevel, _ message: @autoclosure () -> String, _ fields: LogField...)
  {
    write(level, message, fields, isChange: true)
  }

  /// A service's news under its key. What the bus does is told each time: every line is another state.
  public func note(_ report: OperatorReport) {
    let level: LogLevel =
      switch report.level {
      case .info: .info
      case .warning: .warning
      case .error: .error
      }
    write(
      level, { report.text }, [LogField("event", .text(report.key))],
      isChange: report.key.hasPrefix("bus.") && report.key != "bus.waiting")
  }

  /// Lines that could not be written.
  public var droppedCount: Int { shared.state.withLock { $0.dropped } }

  private func write(
    _ level: LogLevel, _ message: () -> String, _ fields: [LogField], isChange: Bool = false
  ) {
    guard isEnabled(level) else { return }
    shared.write(
      LogLine(level: level, label: label, message: message(), fields: fields, isChange: isChange))
  }

  private final class Shared: Sendable {
    struct State {
      var repeats = LogRepeats()
      var dropped = 0
    }
    let level: LogLevel
    let format: LogFormat
    let isColoured: Bool
    let now: @Sendable () -> Int64
    let sink: Sink
    let state = Mutex(State())

    init(
      level: LogLevel, format: LogFormat, isColoured: Bool, now: @escaping @Sendable () -> Int64,
      sink: @escaping Sink
    ) {
      self.level = level
      self.format = format
      self.isColoured = isColoured
      self.now = now
      self.sink = sink
    }

    /// Under the lock, so that lines of several threads keep the order of their times.
    func write(_ line: LogLine) {
      state.withLock { state in
        let time = now()
        let decision = state.repeats.decide(line, at: time)
        guard decision.isWritten else { return }
        for notice in decision.notices {
          var told = notice.about
          told.message += ": repeated \(notice.count.counted("time"))"
          emit(told, at: time, &state)
        }
        emit(line, at: time, &state)
      }
    }

    private func emit(_ line: LogLine, at time: Int64, _ state: inout State) {
      do {
        try sink(line.formatted(format, time: time, isColoured: isColoured))
      } catch {
        state.dropped += 1
      }
    }
  }
}
