import CPlatform
import Primitives
import ServiceRuntime

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@main
enum EventbusProgram {
  static func main() {
    do throws(SystemError) {
      try SignalSource.hold()
    } catch {
      Terminal.error("eventbus: \(error)")
      exit(ExitCode.failed.rawValue)
    }
    FileModes.keepOthersOut()
    // Groups and messages of up to 4 MiB come and go; faulting their pages in again cost a fifth of all
    // CPU time.
    eb_keep_freed_memory(32 << 20)
    StandardFiles.ensure()
    let environment = ProcessEnvironment.current()
    // Its supervisor died while it started: nobody would stop it.
    guard SupervisedChild.begin(environment: environment) else {
      exit(ExitCode.terminated.rawValue)
    }
    let words: [String]
    do throws(UsageError) {
      words = try ProcessArguments.current()
    } catch {
      Terminal.error("eventbus: \(error)")
      exit(ExitCode.usage.rawValue)
    }
    ProcessArguments.hideValues(of: secretOptions)
    let code = run(words, environment)
    exit((code == .done && Terminal.hasFailed ? .diskError : code).rawValue)
  }

  /// Whose values no `ps` shows; a webhook's headers may hold a credential.
  private static let secretOptions: Set = [
    "--write-key", "--secret", "--secret-key", "--token", "--header",
  ]

  /// Parses, then runs the command on a thread of its own while this one waits for signals: they must
  /// be blocked here, before any other thread is made.
  static func run(_ words: [String], _ environment: [String: String]) -> ExitCode {
    let request: CommandLineParser.Request
    do {
      request = try Commands.parser.parse(
        words, environment: BusEnvironment.completed(environment, for: words))
      if case .run(let arguments) = request {
        try BusEnvironment.check(environment, for: arguments)
      }
    } catch {
      Terminal.error("eventbus: \(error)")
      return .usage
    }
    switch request {
    case .show(let text):
      Terminal.output(text)
      return .done
    case .run(let arguments):
      do {
        let isService = arguments.command.group == "Services"
        return try Interruption.run(isService: isService) { interruption in
          Commands.run(arguments, environment, interruption)
        }
      } catch {
        Terminal.error("eventbus: \(error)")
        return .failed
      }
    }
  }
}
