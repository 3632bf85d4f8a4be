import BusClient
import BusProtocol
import Inspection
import Primitives
import ServiceRuntime

/// `eventbus top`.
enum TopCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "top", group: "Administration",
      summary: "Shows rates, event names, subscribers and their lag, live; q ends it.",
      options: [
        .option("interval", "TIME", help: "Between two looks.", default: "1s"),
        .option("timeout", "TIME", help: "How long to wait for the bus.", default: "5s"),
      ],
      examples: [
        CommandExample("eventbus top", "Of the bus on its usual port."),
        CommandExample("eventbus top --interval 5s | head -40", "Into a pipe: once, as text."),
      ]),
    run: run)

  private static func run(_ context: Commands.Context) throws -> ExitCode {
    let address = try context.arguments.requiredText("bus")
    let interval = try context.arguments.value(
      "interval", in: Duration.milliseconds(100)...Duration.seconds(3600))
    let timeout = try context.arguments.value("timeout", as: Duration.self)
    var administration: BusAdministration
    do throws(BusClientError) {
      administration = try BusAdministration(address: address)
    } catch {
      throw CommandFailure(.usage, "\(error)")
    }
    administration.deadline = timeout
    var top = TopCore(bus: address)
    // The first look decides whether there is anything to show.
    let first: ControlMap
    do throws(BusClientError) { first = try administration.status() } catch {
      guard case .timedOut = error else {
        throw CommandFailure(.failed, TerminalText.escape("\(error)"))
      }
      throw CommandFailure.unreachable(address, within: timeout)
    }
    top.take(first, at: SystemClock.monotonic())
    guard let screen = TerminalScreen() else {
      return try once(&top, &administration, interval, context)
    }
    defer { screen.leave() }
    var note = ""
    var nextLook = SystemClock.monotonic() + interval.nanoseconds
    // A broker that hangs must not keep `q` waiting for long.
    administration.deadline = min(timeout, .seconds(1))
    while !context.interruption.isRequested {
      screen.show { top.frame(rows: $0, columns: $1, now: SystemClock.realtime(), note: note) }
      let left = max(0, nextLook - SystemClock.monotonic())
      // Also woken by a changed size of the window: the frame is drawn anew at least each 250 ms.
      switch screen.wait(
        milliseconds: Int32(min(250, left / 1_000_000)), interruption: context.interruption)
      {
      case .quit: return .done
      case .other: break
      }
      guard SystemClock.monotonic() >= nextLook else { continue }
      nextLook = SystemClock.monotonic() + interval.nanoseconds
      do throws(BusClientError) {
        top.take(try administration.status(), at: SystemClock.monotonic())
        note = ""
      } catch {
        note = "NO ANSWER from \(address); what follows is old"
      }
    }
    // Ctrl-C is how one leaves such a screen.
    let code = context.interruption.code ?? .done
    return code == .interrupted ? .done : code
  }

  /// Not a terminal: two looks, so that there are rates, and one text.
  private static func once(
    _ top: inout TopCore, _ administration: inout BusAdministration, _ interval: Duration,
    _ context: Commands.Context
  ) throws -> ExitCode {
    context.interruption.wait(milliseconds: Int32(clamping: interval.nanoseconds / 1_000_000))
    if let code = context.interruption.code { return code }
    do throws(BusClientError) {
      top.take(try administration.status(), at: SystemClock.monotonic())
    } catch {
      throw CommandFailure(.failed, "\(error)")
    }
    let lines = top.frame(rows: 1000, columns: 200, now: SystemClock.realtime())
    Terminal.output(lines.map { $0 + "\n" }.joined())
    return .done
  }
}
