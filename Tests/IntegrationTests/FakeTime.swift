import Foundation
import Primitives
import TestSupport

/// Another time of day for one process, by Debian's libfaketime where it is installed.
struct FakeTime {
  private let environment: [String: String]

  /// A wall clock that is an hour on, or nil and a line that says that the library is absent. The monotonic
  /// clock, by which waits are measured, is left alone.
  static var hourOn: FakeTime? {
    if let sanitizer = Sanitizer.current {
      print("integration tests: \(sanitizer.rawValue) hangs in libfaketime; its test is skipped")
      return nil
    }
    let library = "/usr/lib/\(machine)-linux-gnu/faketime/libfaketimeMT.so.1"
    guard FileManager.default.fileExists(atPath: library) else {
      print("integration tests: no \(library) (apt-get install libfaketime); its test is skipped")
      return nil
    }
    return FakeTime(
      environment: [
        "LD_PRELOAD": library, "FAKETIME": "+3600", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
      ])
  }

  private static var machine: String {
    #if arch(arm64)
      "aarch64"
    #else
      "x86_64"
    #endif
  }

  /// Starts the program. By way of `env`: in the process that first loads it the library changes the
  /// environment, after which Swift does not find the arguments.
  func start(_ arguments: [String]) throws -> ChildProcess {
    try ChildProcess("/usr/bin/env", [Program.path] + arguments, environment: environment)
  }
}
