import BusClient
import BusProtocol
import EventModel
import Primitives
import ServiceRuntime

/// One run of `tail --live`: the feed as it is, with what was lost told on stderr.
///
/// Exact names are subscribed one by one, so that the broker sends no others and beacons show a lost last
/// event. With any other pattern everything comes and is sorted out here.
struct TailLive: ~Copyable {
  private let settings: TailSettings
  private let context: Commands.Context
  private let patterns: [EventPattern]
  private var printer: TailPrinter
  private var subscriber: LiveSubscriber
  /// Names whose ready sign has not come yet.
  private var awaited: Set<String>
  private var isReady = false

  init(_ settings: TailSettings, _ context: Commands.Context) throws {
    self.settings = settings
    self.context = context
    patterns = settings.filters.map { filter in
      switch filter.kind {
      case .exact: EventPattern(exact: filter.text)
      case .prefix: EventPattern(prefix: filter.text)
      case .glob: EventPattern(glob: filter.text)
      }
    }
    printer = TailPrinter(settings)
    let exact = patterns.compactMap(\.exactName).map { String(decoding: $0, as: UTF8.self) }
    let names = exact.count == patterns.count ? exact : []
    awaited = names.isEmpty ? [LiveSubscriber.everything] : Set(names)
    do throws(BusClientError) {
      subscriber = try LiveSubscriber(
        busAddress: settings.address, names: names, deadline: settings.timeout)
    } catch {
      if case .timedOut = error {
        throw CommandFailure.unreachable(settings.address, within: settings.timeout)
      }
      throw CommandFailure(.failed, "\(error)")
    }
  }

  mutating func run() throws -> ExitCode {
    printer.begin()
    while !context.interruption.isRequested, !printer.isDone {
      // Lines are written together while events wait, and at once when none does.
      var item = try subscriber.next(deadline: .zero)
      if item == nil {
        printer.flush()
        item = try subscriber.next(deadline: .milliseconds(100))
      }
      switch item {
      case nil: printer.lookForReader()
      case .ready(let name): ready(name)
      case .event(let event, _): show(event)
      case .lost(let name, let from, let to, _, _):
        guard isWanted(Array(name.utf8)) else { continue }
        let gap = "gap: \((to - from).counted("event")) of \(TerminalText.escape(name))"
        printer.flush()
        Terminal.error(gap)
        if settings.stopsAtGap { throw CommandFailure(.gap, gap) }
      }
    }
    printer.flush()
    printer.tellUnseen()
    return context.interruption.code ?? .done
  }

  private mutating func ready(_ name: String) {
    awaited.remove(name)
    guard awaited.isEmpty, !isReady else { return }
    isReady = true
    if settings.saysReady { Terminal.error("ready") }
  }

  private mutating func show(_ event: ReceivedEvent) {
    let name = Array(event.name.utf8)
    guard isWanted(name) else { return }
    unsafe printer.show(event.payload.span.bytes, name.span.bytes, offset: event.offset)
  }

  private func isWanted(_ name: [UInt8]) -> Bool {
    patterns.isEmpty || patterns.contains { $0.matches(name) }
  }
}
