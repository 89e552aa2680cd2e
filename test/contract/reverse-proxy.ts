import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen } from '../support/raw-server.ts';

/**
 * A mock server as a foreign deployment looks from outside: its write interface and its schemas,
 * without the control interface that would tell what it is, and without harvesting, which such a
 * deployment has at another address.
 */
export async function startOuterFace(mock: {
  readonly base_url: string;
}): Promise<AsyncDisposable & { readonly base_url: string }> {
  const server = createServer(async (request, response) => {
    const path = request.url ?? '/';
    if (!/^\/(?:api|schema)\//.test(path)) {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<html>Not Found</html>');
      return;
    }
    const body = await buffer(request);
    const { host: _, ...headers } = request.headers as Record<string, string>;
    const answer = await fetch(mock.base_url + path, {
      method: request.method ?? 'GET',
      headers: Object.fromEntries(
        Object.entries(headers).filter(
          ([name]) => !/^(?:connection|content-length|keep-alive)$/.test(name),
        ),
      ),
      redirect: 'manual',
      ...(body.length === 0 ? {} : { body }),
    });
    response
      .writeHead(answer.status, Object.fromEntries(answer.headers))
      .end(Buffer.from(await answer.arrayBuffer()));
  });
  const { url, ...listening } = await listen(server);
  return { ...listening, base_url: url };
}
