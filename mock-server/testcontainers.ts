import { randomBytes } from 'node:crypto';
import {
  AbstractStartedContainer,
  GenericContainer,
  type StartedTestContainer,
  Wait,
} from 'testcontainers';
import { CONTROL_PATH } from './base/addresses.ts';
import { CONTROL_TOKEN_VARIABLE } from './state/options.ts';

/** Port of the server in its image. */
const PORT = 8080;

/**
 * The image of the mock server as a container of Testcontainers, ready when {@link start} resolves.
 * It has a control token of its own, for its control interface is asked from outside the container.
 *
 *     await using service = await new MockServiceContainer('localhost/pas-mock:0.1.0').withFlags('--min-interval', '0').start();
 */
export class MockServiceContainer extends GenericContainer {
  readonly #token: string;
  readonly #flags: string[] = [];

  /**
   * @param image name of the image where the tests run @param controlToken default: a random one
   */
  constructor(image: string, controlToken: string = randomBytes(16).toString('hex')) {
    super(image);
    this.#token = controlToken;
    this.withExposedPorts(PORT)
      .withEnvironment({ [CONTROL_TOKEN_VARIABLE]: controlToken })
      .withWaitStrategy(Wait.forHttp(`${CONTROL_PATH}/health`, PORT).forStatusCode(200));
  }

  /**
   * More flags of `pas-mock-server`, such as `'--service-names'`. The host and the port are the
   * image's.
   */
  withFlags(...flags: readonly string[]): this {
    this.#flags.push(...flags);
    return this.withCommand([...this.#flags]);
  }

  override async start(): Promise<StartedMockServiceContainer> {
    return new StartedMockServiceContainer(await super.start(), this.#token);
  }
}

/** Error for a refusal or an unexpected answer of its control interface. */
export class MockControlError extends Error {
  readonly code = 'MOCK_CONTROL';
  /** HTTP status of the answer. */
  readonly status: number;
  constructor(what: string, status: number, reason: string) {
    super(`the mock server refused ${what} with ${status}: ${reason}`);
    this.name = 'MockControlError';
    this.status = status;
  }
}

/** A mock server that accepts connections. No address ends with a slash. */
export class StartedMockServiceContainer extends AbstractStartedContainer {
  /** Bearer token of the control interface. */
  readonly controlToken: string;

  constructor(container: StartedTestContainer, controlToken: string) {
    super(container);
    this.controlToken = controlToken;
  }

  /** Address of both interfaces for the tests. */
  get baseUrl(): string {
    const host = this.getHost();
    return `http://${host.includes(':') ? `[${host}]` : host}:${this.getMappedPort(PORT)}`;
  }

  get controlUrl(): string {
    return this.baseUrl + CONTROL_PATH;
  }

  /**
   * Schema address for documents: below {@link baseUrl}, unless a flag gives it. @throws
   * MockControlError
   */
  async schemaBase(): Promise<string> {
    const state = await this.control<{ addresses: { schema_base: string } }>('GET', '/state');
    return state.addresses.schema_base;
  }

  /**
   * Sends a request to the control interface.
   * @param path below its address, such as `/faults` @param body sent as JSON
   * @returns its JSON, as described in `/__mock__/openapi.json`
   * @throws MockControlError where it refuses
   */
  async control<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await fetch(this.controlUrl + path, {
      method,
      headers: { authorization: `Bearer ${this.controlToken}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new MockControlError(`${method} ${path}`, answer.status, text);
    return JSON.parse(text) as T;
  }
}
