import Primitives

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

  /// Turns this process into DuckDB with `script` as its input. Returns only when there is none, and why.
  static func become(script: Int32, format: String) -> String {
    guard dup2(script, 0) == 0 else { return "\(SystemError.last("dup2"))" }
    restoreSignals()
    let flag = ["table": "-box", "csv": "-csv", "ndjson": "-jsonlines"][format] ?? "-box"
    execute(["duckdb", "-bail", flag])
    execute(["python3", "-c", python, format])
    return absent
  }

  /// This program blocks the signals that it reads from a descriptor, and ignores SIGPIPE; both would be
  /// inherited.
  private static func restoreSignals() {
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
    _ = signal(SIGPIPE, SIG_DFL)
  }

  /// Returns when there is no such program.
  private static func execute(_ words: [String]) {
    var arguments = unsafe words.map { unsafe strdup($0) }
    unsafe arguments.append(nil)
    if let program = unsafe arguments[0] { unsafe execvp(program, arguments) }
    for index in words.indices { unsafe free(arguments[index]) }
  }
}
