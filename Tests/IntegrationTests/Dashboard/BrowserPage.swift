import Foundation
import Testing

/// One page of a browser: what a person sees and does there.
struct BrowserPage {
  let browser: Browser
  let session: String

  @discardableResult
  func call(_ method: String, _ parameters: [String: Any] = [:]) throws -> JSONValue {
    try browser.call(method, parameters, session: session)
  }

  /// Exceptions, refused content and failed loads so far.
  var complaints: [String] { browser.complaints[session] ?? [] }

  func look(width: Int, height: Int, dark: Bool) throws {
    try call(
      "Emulation.setDeviceMetricsOverride",
      ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600])
    try call(
      "Emulation.setEmulatedMedia",
      ["features": [["name": "prefers-color-scheme", "value": dark ? "dark" : "light"]]])
  }

  /// The value of an expression, or of what it promises.
  func value(_ expression: String) throws -> JSONValue {
    let answer = try call(
      "Runtime.evaluate",
      ["expression": expression, "awaitPromise": true, "returnByValue": true])
    if let failure = answer["exceptionDetails"] { throw Browser.Failure(text: "\(failure)") }
    return answer["result"]?["value"] ?? .null
  }

  func text(_ selector: String) throws -> String {
    try value("document.querySelector(\(Self.quoted(selector)))?.innerText ?? ''").text ?? ""
  }

  func texts(_ selector: String) throws -> [String] {
    try value("[...document.querySelectorAll(\(Self.quoted(selector)))].map((e) => e.innerText)")
      .list.compactMap(\.text)
  }

  /// A number as it stands on the page: digits with their grouping.
  func number(_ selector: String) throws -> Int? {
    Int(try text(selector).filter { $0.isNumber || $0 == "-" })
  }

  func isVisible(_ selector: String) throws -> Bool {
    try value(
      "document.querySelector(\(Self.quoted(selector)))?.checkVisibility() ?? false") == .bool(true)
  }

  /// Waits in the page, which looks 50 times a second; what it sees instead is told.
  func sees(
    _ condition: String, _ limit: Duration = .seconds(30),
    at place: SourceLocation = #_sourceLocation
  ) throws {
    let deadline = ContinuousClock.now + limit
    var holds = JSONValue.null
    while holds != .bool(true), ContinuousClock.now < deadline {
      let left = (deadline - ContinuousClock.now).components.seconds * 1000 + 100
      do {
        holds = try value(Self.waiting(for: condition, milliseconds: left))
      } catch let failure as Browser.Failure where failure.isByNavigation {
        continue
      }
    }
    if holds != .bool(true) {
      Issue.record(
        "never seen: \(condition)\n\(try text("body").prefix(3000))", sourceLocation: place)
    }
  }

  private static func waiting(for condition: String, milliseconds: Int64) -> String {
    """
    new Promise((done) => {
      const end = Date.now() + \(milliseconds);
      const look = () => {
        let holds = false;
        try { holds = Boolean(\(condition)); } catch { /* not there yet */ }
        if (holds || Date.now() > end) done(holds); else setTimeout(look, 20);
      };
      look();
    })
    """
  }

  func sees(
    _ selector: String, text: String, _ limit: Duration = .seconds(30),
    at place: SourceLocation = #_sourceLocation
  ) throws {
    try sees(
      "document.querySelector(\(Self.quoted(selector)))?.innerText.includes(\(Self.quoted(text)))",
      limit, at: place)
  }

  func press(_ key: String, code: Int, text: String? = nil) throws {
    for kind in ["keyDown", "keyUp"] {
      var event: [String: Any] = ["type": kind, "key": key, "code": key]
      event["windowsVirtualKeyCode"] = code
      if kind == "keyDown" { event["text"] = text }
      try call("Input.dispatchKeyEvent", event)
    }
  }

  func type(_ text: String, into selector: String) throws {
    _ = try value("document.querySelector(\(Self.quoted(selector))).focus()")
    try call("Input.insertText", ["text": text])
  }

  static func quoted(_ text: String) -> String {
    String(decoding: (try? JSONEncoder().encode(text)) ?? Data(), as: UTF8.self)
  }
}
