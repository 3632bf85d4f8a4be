internal import Hashing
public import HTTPServer

/// The files of the page, which are part of the program, and the chart library, which Debian has.
///
/// Everything is answered with a policy under which a browser runs and loads nothing that is not from
/// here, and with an ETag, so that looking again costs one short answer a file.
public struct DashboardAssets: Sendable {
  /// Where the package libjs-chart.js puts the library, the newest name first.
  public static let chartLibraryPaths = [
    "/usr/share/javascript/chart.js/chart.min.js", "/usr/share/javascript/chart.js/Chart.min.js",
    "/usr/share/javascript/chart.js/chart.umd.js",
  ]

  struct Asset: Sendable {
    var contentType: String
    var tag: String
    var body: [UInt8]
  }

  private var assets: [String: Asset] = [:]

  /// - Parameter chartLibrary: Chart.js as one script; nil, and the page says what to install and shows
  ///   tables.
  public init(chartLibrary: [UInt8]?) {
    for (path, body) in Self.files { add(path, body) }
    if let chartLibrary { add("/chart.js", chartLibrary) }
  }

  /// What a browser may fetch before it has shown a token: nothing of it tells anything.
  public static let open: Set = ["/login", "/style.css", "/icon.svg"]

  /// Nil for a path that is none of the page's.
  public func answer(_ request: HTTPRequest) -> HTTPResponse? {
    guard let asset = assets[request.path] else { return nil }
    guard request.method == "GET" || request.method == "HEAD" else {
      return Self.refusal("use GET\n", 405, HTTPRequest.Field("Allow", "GET, HEAD"))
    }
    var answer = HTTPResponse(contentType: asset.contentType, body: asset.body)
    if request.header("If-None-Match") == asset.tag {
      answer = HTTPResponse(status: 304)
    }
    answer.headers = Self.headers + [HTTPRequest.Field("ETag", asset.tag)]
    return answer
  }

  private mutating func add(_ path: String, _ body: [UInt8]) {
    let digest = unsafe SHA256.digest(of: body.span.bytes)
    let tag = "\"\(Hex.encode(Array(digest.prefix(12))))\""
    assets[path] = Asset(contentType: Self.contentType(path), tag: tag, body: body)
  }

  private static func refusal(
    _ text: String, _ status: UInt32, _ header: HTTPRequest.Field
  ) -> HTTPResponse {
    var refusal = HTTPResponse.text(text, status: status)
    refusal.headers = [header]
    return refusal
  }

  private static func contentType(_ path: String) -> String {
    switch path.split(separator: ".").last {
    case "js": "text/javascript; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "svg": "image/svg+xml"
    default: "text/html; charset=utf-8"
    }
  }

  /// On each file, and on what the page's own requests answer as far as it makes sense there.
  static let headers: [HTTPRequest.Field] = [
    HTTPRequest.Field(
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"),
    HTTPRequest.Field("X-Content-Type-Options", "nosniff"),
    HTTPRequest.Field("Referrer-Policy", "no-referrer"),
    HTTPRequest.Field("Cross-Origin-Resource-Policy", "same-origin"),
    // Kept, but asked for again each time.
    HTTPRequest.Field("Cache-Control", "no-cache"),
  ]

  private static let files: [(path: String, body: [UInt8])] = [
    ("/", PackageResources.index_html), ("/login", PackageResources.login_html),
    ("/style.css", PackageResources.style_css), ("/icon.svg", PackageResources.icon_svg),
    ("/app.js", PackageResources.app_js), ("/dom.js", PackageResources.dom_js),
    ("/format.js", PackageResources.format_js), ("/source.js", PackageResources.source_js),
    ("/charts.js", PackageResources.charts_js), ("/period.js", PackageResources.period_js),
    ("/live.js", PackageResources.live_js), ("/overview.js", PackageResources.overview_js),
    ("/reports.js", PackageResources.reports_js), ("/health.js", PackageResources.health_js),
  ]
}
