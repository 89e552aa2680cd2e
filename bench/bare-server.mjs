/** The least that a server can do: the same answer to everything. */
import { createServer } from 'node:http';

const [contentType, base64] = process.argv.slice(2);
const body = Buffer.from(base64, 'base64');
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': contentType, 'content-length': body.length });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  process.send(`http://127.0.0.1:${port}/`);
});
