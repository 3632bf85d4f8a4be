/// Which closure answers which method and path. Unknown paths give 404, other methods 405.
public struct HTTPRoutes: Sendable {
  /// Called on a thread of the server: while it runs, nobody else is served by that one.
  public typealias Handler = @Sendable (HTTPRequest) -> HTTPResponse

  private struct Route {
    var method: String
    var path: String
    var parameters: [String]?
    var handler: Handler
  }
  private var routes: [Route] = []

  public init() {}

  /// Adds a route for exactly that path. GET answers HEAD too.
  ///
  /// - Parameter parameters: a request with others in its query is refused with 400; nil: any may come.
  public mutating func on(
    _ method: String, _ path: String, parameters: [String]? = nil, _ handler: @escaping Handler
  ) {
    precondition(path.hasPrefix("/"), "a path begins with /")
    precondition(!routes.contains { $0.path == path && $0.method == method }, "two such routes")
    routes.append(Route(method: method, path: path, parameters: parameters, handler: handler))
  }

  public func answer(_ request: HTTPRequest) -> HTTPResponse {
    let here = routes.filter { $0.path == request.path }
    guard !here.isEmpty else { return .text("no such path\n", status: 404) }
    let method = request.method == "HEAD" ? "GET" : request.method
    if let route = here.first(where: { $0.method == request.method })
      ?? here.first(where: { $0.method == method })
    {
      if let known = route.parameters, let fault = request.parameterFault(besides: known) {
        return .text("\(fault)\n", status: 400)
      }
      return route.handler(request)
    }
    var allowed = here.map(\.method)
    if allowed.contains("GET"), !allowed.contains("HEAD") { allowed.append("HEAD") }
    let list = allowed.sorted().joined(separator: ", ")
    var refusal = HTTPResponse.text("use \(list)\n", status: 405)
    refusal.headers = [HTTPRequest.Field("Allow", list)]
    return refusal
  }
}
