import Aggregation
import BusClient
import BusProtocol
import Destinations
import EventModel
import HTTPClient
import Primitives
import ServiceRuntime
import SinkState

/// Looks once at everything that runs beside the aggregator: the broker by its own answers, collector and
/// archiver by their `/status`, publishers by their state files. Each look takes a second at most where
/// somebody does not answer.
struct PipelineProbe: ~Copyable {
  private let aggregator: Aggregator
  private let data: String
  /// Where collector and archiver answer, by name.
  private let services: [(name: String, url: String)]
  private var bus: BusAdministration
  private var client: HTTPClient

  init(_ aggregator: Aggregator, bus: String, portBase: Int, data: String) throws {
    var bus = try BusAdministration(address: bus)
    bus.deadline = .seconds(1)
    let client = try HTTPClient(.services(within: .seconds(1)))
    self.aggregator = aggregator
    self.data = data
    // Services whose ports the system chose cannot be found; the broker still tells who subscribes.
    services =
      portBase == 0
      ? []
      : [("collector", 11), ("archiver", 30)].map { name, distance in
        (name, "http://127.0.0.1:\(portBase + distance)/status")
      }
    self.bus = bus
    self.client = client
  }

  mutating func look() -> JSONText {
    let statuses = askServices()
    let (broker, consumers) = askBroker()
    var left = consumers
    var processes = [broker]
    for (name, _) in services {
      if let status = statuses[name] {
        var row = PipelineProcess(name: name, role: name, status: status)
        if let consumer = left.removeValue(forKey: name) { row.take(consumer) }
        row.takeOpenPart(status)
        processes.append(row)
      } else if var row = left.removeValue(forKey: name).map({ PipelineProcess(consumer: $0) }) {
        row.role = name
        processes.append(row)
      } else {
        processes.append(
          PipelineProcess(name: name, role: name, state: .stopped, detail: "not running"))
      }
    }
    processes.append(own(&left))
    processes += publishers(&left)
    processes += left.values.map { PipelineProcess(consumer: $0) }.sorted { $0.name < $1.name }
    return .object([
      .init("time", .text(Timestamp.now().text)),
      .init("processes", .list(processes.map(\.json))),
    ])
  }

  private mutating func askBroker() -> (PipelineProcess, [String: ControlMap]) {
    do throws(BusClientError) {
      let status = try bus.status()
      let consumers = StatusText.maps(status, "consumers").map { ($0.text("name"), $0) }
      return (PipelineProcess(broker: status), Dictionary(consumers) { first, _ in first })
    } catch {
      let row = PipelineProcess(
        name: "broker", role: "broker", state: .stopped, detail: "does not answer",
        lastError: "\(error)")
      return (row, [:])
    }
  }

  private mutating func askServices() -> [String: PropertyObject] {
    var found: [String: PropertyObject] = [:]
    for ((name, _), answer) in zip(services, client.get(services.map(\.url))) {
      guard case .success(let reply) = answer, let status = reply.statusObject,
        status["service"]?.stringValue == name
      else { continue }
      found[name] = status
    }
    return found
  }

  /// The aggregator itself.
  private func own(_ left: inout [String: ControlMap]) -> PipelineProcess {
    let status = aggregator.status
    _ = left.removeValue(forKey: aggregator.name)
    var row = PipelineProcess(name: aggregator.name, role: "aggregator")
    row.cursor = status.progress?.cursor.offset
    row.lag = status.lag
    row.refused = status.progress?.ledger.refused
    row.dead = status.progress?.ledger.dead
    if !status.isConnected {
      row.fail(status.link.trouble)
      row.fail("the bus is not reached")
    }
    row.fail(status.trouble)
    row.fail(status.fileTrouble)
    return row
  }

  private func publishers(_ left: inout [String: ControlMap]) -> [PipelineProcess] {
    let (found, unreadable) = DestinationStates.read(data: data)
    var rows = found.map { status in
      let name = status.folder.folderName
      var row = PipelineProcess(name: name, role: "publisher")
      row.state = status.isRunning ? .running : .stopped
      row.detail = status.isRunning ? status.state : "stopped"
      row.cursor = status.progress?.cursor.offset
      row.lag = status.lag
      row.refused = status.progress?.ledger.refused
      row.dead = status.letters.count
      if status.isRunning, !["opening", "delivering", ""].contains(status.state) {
        row.state = .trouble
      }
      row.lastError = status.reason
      if let consumer = left.removeValue(forKey: name) {
        row.lag = consumer.number("lag")
      }
      return row
    }
    rows += unreadable.map {
      PipelineProcess(name: $0.name, role: "publisher", state: .trouble, lastError: $0.why)
    }
    return rows
  }
}
