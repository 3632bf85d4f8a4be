import BusBroker
import EventBus
import Synchronization
import TestSupport
import Testing

/// The README's Swift, compiled from `Snippets` and run.
@Suite(.timeLimit(.minutes(5)))
struct SwiftSnippetTests {
  @Test func `the Swift in the README is what this target compiles`() throws {
    let shown = try Readme().code(in: "swift")
    #expect(Set(shown) == (try Readme.compiledSnippets()))
    #expect(shown.count == 3)
  }

  @Test func `what the producer publishes, the subscriber gets`() async throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    let published = try await publishLevel(bus: broker.addresses.bus)
    #expect(published.isComplete && published.acknowledged == 1)
    #expect(try await nextLevel(bus: broker.addresses.bus) == 7)
    broker.stop()
    broker.join()
  }

  @Test func `a program sets its bus once and publishes in one line`() async {
    // The bus is the whole program's: a process of its own leaves the other tests' alone.
    await #expect(processExitsWith: .success) {
      let producer = try startProgram(bus: "ipc:///nonexistent/bus")
      try loseLevel()
      try #require(producer.counters.published == 1)
      _ = producer.closeBlocking(deadline: .zero)
    }
  }

  @Test func `an observer in the same program is called before publish returns`() throws {
    let bus = InProcessBus()
    let levels = Mutex<[Int]>([])
    let token = observeLevels(on: bus) { level in levels.withLock { $0.append(level) } }
    try EventType.LevelDone(level: 3).publish(on: bus)
    try EventType.LevelLost().publish(on: bus)
    #expect(levels.withLock { $0 } == [3])
    withExtendedLifetime(token) {}
  }
}

/// A broker on ports that the system chooses.
func startBroker(_ folder: TemporaryFolder) throws -> Broker {
  var configuration = BrokerConfiguration(directory: folder.file("journal"))
  configuration.busAddress = "tcp://127.0.0.1:*"
  configuration.liveAddress = "tcp://127.0.0.1:*"
  configuration.publishAddress = "tcp://127.0.0.1:*"
  configuration.pushAddress = "tcp://127.0.0.1:*"
  return try Broker(configuration)
}
