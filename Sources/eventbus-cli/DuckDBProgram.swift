import Primitives
import ServiceRuntime

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// DuckDB as it is found on a machine: the program `duckdb`, or Python's module.
enum DuckDBProgram {
  private static let absent =
    "archive sql needs DuckDB, which is not installed: run `pip install duckdb`, or get the program from "
    + "https://duckdb.org/install"

  /// What Python runs: all statements but the last one quietly, then the last one's rows.
  private static let python = """
    import sys
    try:
        import duckdb
    except ImportError:
        sys.exit("eventbus archive sql: \(absent)")
    import csv, json
    connection = duckdb.connect()
    try:
        statements = connection.extract_statements(sys.stdin.read())
        for statement in statements[:-1]:
            connection.execute(statement)
        form = sys.argv[1]
        if form == "table":
            rows = connection.sql(statements[-1].query)
            if rows is not None:
                rows.show(max_rows=1000000)
        else:
            rows = connection.execute(statements[-1])
            names = [column[0] for column in rows.description or []]
            writer = csv.writer(sys.stdout, lineterminator="\\n")
            if form == "csv":
                writer.writerow(names)
            while batch := rows.fetchmany(10000):
                for row in batch:
                    if form == "csv":
                        writer.writerow(row)
                    else:
                        print(json.dumps(dict(zip(names, row)), default=str, ensure_ascii=False))
        sys.stdout.flush()
    except BrokenPipeError:
        import os
        os._exit(0)
    except duckdb.Error as error:
        sys.exit("eventbus archive sql: " + str(error))
    """

  /// How it ended, and the last of what it said on stderr, which was passed on.
  struct Outcome {
    /// 128 + the signal that ended it.
    var status: Int32
    var said: String
  }

  /// Runs DuckDB with `script` as its input; its output is this process's. A request to end is passed on.
  /// - Throws: when there is no DuckDB.
  static func run(
    script: Int32, format: String, _ interruption: Interruption
  ) throws -> Outcome {
    let flag = ["table": "-box", "csv": "-csv", "ndjson": "-jsonlines"][format] ?? "-box"
    for words in [["duckdb", "-bail", flag], ["python3", "-c", python, format]] {
      guard let (child, errors) = try spawn(words, input: script) else { continue }
      defer { close(errors) }
      interruption.onRequest { _ in kill(child, SIGTERM) }
      let said = passOn(errors)
      var status: Int32 = 0
      while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
      let signal = status & 0x7F
      return Outcome(status: signal == 0 ? status >> 8 & 0xFF : 128 + signal, said: said)
    }
    throw CommandFailure(.failed, absent)
  }

  /// Nil when there is no such program. This program blocks the signals that it reads from a descriptor,
  /// and ignores SIGPIPE; the child does neither.
  private static func spawn(
    _ words: [String], input: Int32
  ) throws(SystemError) -> (child: pid_t, errors: Int32)? {
    var ends: [Int32] = [0, 0]
    try SystemError.check("pipe") { unsafe pipe(&ends) }
    defer { close(ends[1]) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe posix_spawnattr_setsigmask(&attributes, &signals)
    unsafe sigaddset(&signals, SIGPIPE)
    unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    let flags = Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF)
    unsafe posix_spawnattr_setflags(&attributes, flags)
    var arguments = unsafe words.map { unsafe strdup($0) }
    unsafe arguments.append(nil)
    defer {
      for index in words.indices { unsafe free(arguments[index]) }
      unsafe posix_spawn_file_actions_destroy(&actions)
      unsafe posix_spawnattr_destroy(&attributes)
    }
    var child: pid_t = 0
    let code = unsafe posix_spawnp(
      &child, words[0], &actions, &attributes, arguments, environ)
    guard code != 0 else { return (child, ends[0]) }
    close(ends[0])
    if code == ENOENT || code == EACCES { return nil }
    throw SystemError(call: "posix_spawn", code: code, subject: words[0])
  }

  /// Copies to stderr until the end; returns the last 64 KiB.
  private static func passOn(_ errors: Int32) -> String {
    var kept: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe read(errors, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return String(decoding: kept, as: UTF8.self) }
      // Whom it cannot be told, it is not told.
      _ = unsafe write(2, buffer, count)
      kept = Array((kept + buffer[..<count]).suffix(65_536))
    }
  }
}
