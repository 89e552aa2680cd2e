import { createServer, type RequestListener } from 'node:http';
import { onTestFinished } from 'vitest';
import { listen } from './raw-server.ts';

/** Address of a server that answers so until the test ends. */
export async function serve(answer: RequestListener): Promise<string> {
  const server = await listen(createServer(answer));
  onTestFinished(server[Symbol.asyncDispose]);
  return server.url;
}
