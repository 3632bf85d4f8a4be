import EventModel
import HTTPClient
import Inspection
import Primitives
import ServiceRuntime

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Asks each service over HTTP whether it is ready: all at once, so that the slowest decides.
struct ServiceProbe {
  private static let known: [(name: String, distance: Int)] = [
    ("broker", 4), ("collector", 11), ("aggregator", 20), ("archiver", 30), ("segment", 40),
    ("mixpanel", 41), ("gameanalytics", 42), ("webhook", 43),
  ]

  private let ports: ServicePorts
  private let isUsed: (String) -> Bool

  init(_ ports: ServicePorts, isUsed: @escaping (String) -> Bool) {
    self.ports = ports
    self.isUsed = isUsed
  }

  func services() -> [DoctorFacts.Service] {
    guard ports.base > 0 else { return [] }
    var services: [DoctorFacts.Service] = []
    do throws(HTTPFailure) {
      var client = try HTTPClient(.services(within: .seconds(2)))
      let answers = client.get(Self.known.map { address($0.distance) + "/readyz" })
      for (index, (name, distance)) in Self.known.enumerated() {
        services.append(
          DoctorFacts.Service(
            name: name, address: address(distance), isExpected: isUsed(name),
            answer: Self.judge(answers[index])))
      }
      let there = services.indices.filter { services[$0].answer != .down }
      let statuses = client.get(there.map { services[$0].address + "/status" })
      for (index, status) in zip(there, statuses) { services[index].add(status) }
    } catch {
      Terminal.error("eventbus doctor: services could not be asked: \(error)")
    }
    return services
  }

  private func address(_ distance: Int) -> String { "http://127.0.0.1:\(ports.base + distance)" }

  private static func judge(
    _ answer: Result<HTTPReply, HTTPFailure>
  ) -> DoctorFacts.Service.Answer {
    switch answer {
    case .success(let reply):
      let body =
        String(decoding: reply.body.prefix(200), as: UTF8.self)
        .split(separator: "\n").first.map(String.init) ?? ""
      switch reply.status {
      case 200: return .ready
      case 503: return .notReady(body)
      default: return .stranger("it answers \(reply.status)")
      }
    case .failure(let failure):
      switch failure.kind {
      case .connect: return .down
      case .timeout: return .notReady("no answer within two seconds")
      default: return .stranger(failure.text)
      }
    }
  }

  /// Whether anybody takes connections at a `tcp://HOST:PORT` of this machine.
  static func listens(at bus: String) -> Bool {
    // Nothing of another machine is asked here.
    guard ["127.0.0.1", "localhost"].contains(BusEnvironment.place(ofBus: bus)?.host ?? "") else {
      return false
    }
    guard let port = bus.split(separator: ":").last.flatMap({ UInt16($0) }) else { return false }
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}

extension DoctorFacts.Service {
  /// What its `/status` adds: how much it has not read, and why it is not ready.
  fileprivate mutating func add(_ answer: Result<HTTPReply, HTTPFailure>) {
    guard case .success(let reply) = answer, reply.status == 200, let status = reply.statusObject
    else { return }
    switch self.answer {
    case .ready: unread = status["lag"]?.intValue.map { UInt64(clamping: $0) }
    case .notReady:
      let bus = status["bus"]?.objectValue?["trouble"]?.stringValue ?? ""
      if !bus.isEmpty { self.answer = .notReady(bus) }
    case .stranger, .down: break
    }
  }
}
