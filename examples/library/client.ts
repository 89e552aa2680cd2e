// Somebody's own client of the service, small enough to be read in one go: it signs in, imports a
// document, and asks again where the service says that it should. client.test.ts tests it against
// the mock.
import { createHash } from 'node:crypto';

export class Client {
  readonly #baseUrl: string;
  #token: Promise<string> | undefined;

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
  }

  /**
   * @returns the identifier of the new record; undefined where nobody knows whether there is one
   */
  async importFind(document: string): Promise<string | undefined> {
    this.#token ??= this.#signIn();
    const digest = createHash('sha512').update(document).digest('base64');
    for (;;) {
      const form = new FormData();
      form.append('file', new Blob([document], { type: 'application/xml' }), 'find.xml');
      const answer = await fetch(`${this.#baseUrl}/api/pas/import-xml`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${await this.#token}`,
          'content-digest': `sha-512=:${digest}:`,
        },
        body: form,
      });
      if (answer.status === 201) return answer.headers.get('x-record-id') ?? undefined;
      if (answer.status === 500) return undefined;
      if (answer.status !== 429)
        throw new Error(`refused: ${answer.status} ${await answer.text()}`);
      const waitSeconds = Number(answer.headers.get('retry-after') ?? '1');
      await new Promise((resolve) => setTimeout(resolve, waitSeconds * 1000));
    }
  }

  async #signIn(): Promise<string> {
    const answer = await fetch(`${this.#baseUrl}/api/token-auth/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'archaeologist', password: 'archaeologist' }),
    });
    const { token } = (await answer.json()) as { token: string };
    return token;
  }
}
