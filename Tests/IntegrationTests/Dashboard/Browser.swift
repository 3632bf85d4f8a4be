import Foundation
import TestSupport
import Testing

/// A headless Chromium with a profile of its own, driven over its debugging pipe: JSON messages, each with
/// a NUL behind it, on descriptors 3 and 4. It is killed when the object goes.
final class Browser {
  static let path = "/usr/bin/chromium"

  /// Says so where it is not installed, so that what is skipped does not pass in silence.
  static let isThere: Bool = {
    let isThere = FileManager.default.isExecutableFile(atPath: path)
    if !isThere { print("integration tests: no \(path); the dashboard is not looked at") }
    return isThere
  }()

  /// Longer than anything takes on a busy machine; a browser that hangs fails its test.
  private static let patience: Int32 = 60_000

  private let folder: TemporaryFolder
  private let process: ChildProcess
  private let commands: Int32
  private let answers: Int32
  private var buffered: [UInt8] = []
  private var last = 0
  /// What pages met, by session: exceptions, refused content, failed loads.
  private(set) var complaints: [String: [String]] = [:]

  init() throws {
    let folder = try TemporaryFolder()
    self.folder = folder
    let names = ["commands", "answers"].map { folder.file($0) }
    for name in names { try #require(unsafe mkfifo(name, 0o600) == 0) }
    // For reading and writing, so that opening does not wait for the other side.
    commands = unsafe open(names[0], O_RDWR | O_CLOEXEC)
    answers = unsafe open(names[1], O_RDWR | O_CLOEXEC)
    let options = [
      "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
      "--remote-debugging-pipe", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--user-data-dir=" + folder.file("profile"),
    ]
    process = try ChildProcess(
      "/bin/sh",
      [
        "-c", "exec \"$0\" \"$@\" 3<\"$COMMANDS\" 4>\"$ANSWERS\"", Self.path,
      ] + options + ["about:blank"],
      environment: ["COMMANDS": names[0], "ANSWERS": names[1], "LANG": "en_US.UTF-8"])
  }

  deinit {
    process.signal(SIGKILL)
    process.wait()
    close(commands)
    close(answers)
  }

  /// Opens a page and returns when its document is there.
  func page(
    _ url: String, width: Int = 1280, height: Int = 800, dark: Bool = false, blocking: [String] = []
  ) throws -> BrowserPage {
    let target = try call("Target.createTarget", ["url": "about:blank"])["targetId"]?.text ?? ""
    let session = try call("Target.attachToTarget", ["targetId": target, "flatten": true])[
      "sessionId"]?.text
    let page = BrowserPage(browser: self, session: try #require(session))
    for domain in ["Page", "Runtime", "Log", "Network"] { try page.call("\(domain).enable") }
    if !blocking.isEmpty { try page.call("Network.setBlockedURLs", ["urls": blocking]) }
    try page.look(width: width, height: height, dark: dark)
    try page.call("Page.navigate", ["url": url])
    try page.sees("location.protocol === 'http:' && document.readyState === 'complete'")
    return page
  }

  @discardableResult
  func call(
    _ method: String, _ parameters: [String: Any] = [:], session: String? = nil
  ) throws -> JSONValue {
    last += 1
    var message: [String: Any] = ["id": last, "method": method, "params": parameters]
    message["sessionId"] = session
    try send(Array(JSONSerialization.data(withJSONObject: message)) + [0])
    while true {
      let message = try next()
      if message["id"]?.int == last {
        if let error = message["error"] { throw Failure(text: "\(method): \(error)") }
        return message["result"] ?? .null
      }
      note(message)
    }
  }

  struct Failure: Error {
    var text: String

    /// Another document took the place of the one that was asked.
    var isByNavigation: Bool {
      ["navigated or closed", "context was destroyed", "Cannot find context", "collected"]
        .contains { text.contains($0) }
    }
  }

  private func note(_ event: JSONValue) {
    let session = event["sessionId"]?.text ?? ""
    let told = event["params"]
    switch event["method"]?.text {
    case "Runtime.exceptionThrown": complaints[session, default: []].append("\(told ?? .null)")
    case "Log.entryAdded":
      guard told?["entry"]?["level"]?.text == "error" else { return }
      complaints[session, default: []].append(told?["entry"]?["text"]?.text ?? "")
    default: break
    }
  }

  private func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let rest = Array(bytes[sent...])
      let count = unsafe write(commands, rest, rest.count)
      guard count > 0 else { throw Failure(text: "the browser takes nothing: \(errno)") }
      sent += count
    }
  }

  private func next() throws -> JSONValue {
    while true {
      if let end = buffered.firstIndex(of: 0) {
        let text = String(decoding: buffered[..<end], as: UTF8.self)
        buffered.removeFirst(end + 1)
        return try JSONValue(text: text)
      }
      var item = pollfd(fd: answers, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&item, 1, Self.patience) > 0 else {
        throw Failure(text: "the browser does not answer: \(process.errorOutput.text)")
      }
      var piece = [UInt8](repeating: 0, count: 1 << 16)
      let count = unsafe read(answers, &piece, piece.count)
      guard count > 0 else { throw Failure(text: "the browser is gone") }
      buffered += piece.prefix(count)
    }
  }
}
