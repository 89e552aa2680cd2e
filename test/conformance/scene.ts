import { Broken, Skipped } from './check.ts';
import type { Answer, Line } from './line.ts';

export type Account = { readonly username: string; readonly password: string };

/** Request, address and account. */
export type SceneOptions = {
  /** Without a slash at the end, as all addresses here. */
  readonly baseUrl: string;
  readonly oaiBase?: string | undefined;
  /**
   * Schema of import documents. Default: the one that the harvesting interface names for its native
   * format.
   */
  readonly schemaBase?: string | undefined;
  readonly prefix: string;
  /** Schema of the import document. */
  readonly schemaVersion: string;
  readonly account?: Account | undefined;
  /** An account with the role Researcher, for what only that role may not do. */
  readonly researcher?: Account | undefined;
  /** A survey project that the accounts may import into; needed to write. */
  readonly project?: string | undefined;
  /** A project that they may not import into. */
  readonly foreignProject?: string | undefined;
  /** The deployment is a double on this machine: nothing but a test reads what is written there. */
  readonly isDouble: boolean;
  /** 0: the deployment has no minimum interval. */
  readonly intervalMs: number;
};

/** One run: its options, its line, and what earlier checks found out. */
export class Scene {
  readonly options: SceneOptions;
  readonly line: Line;
  /** Stands in every record that the run makes. */
  readonly mark: string;
  /** Requests that the service refused as it should. */
  readonly refusals: Answer[] = [];
  readonly #found = new Map<string, Promise<unknown>>();
  #counted = 0;

  constructor(options: SceneOptions, line: Line, mark: string) {
    this.options = options;
    this.line = line;
    this.mark = mark;
  }

  /** Asks once in a run, for all callers. */
  once<T>(name: string, find: () => Promise<T>): Promise<T> {
    const cached = this.#found.get(name);
    if (cached !== undefined) return cached as Promise<T>;
    const result = find();
    this.#found.set(name, result);
    result.catch(() => {});
    return result;
  }

  /**
   * As `once`, for what another check is about: where that one breaks, this one cannot tell.
   * @throws Skipped
   */
  async given<T>(name: string, find: () => Promise<T>): Promise<T> {
    try {
      return await this.once(name, find);
    } catch (thrown) {
      if (thrown instanceof Broken)
        throw new Skipped(`needs "${name}", which broke: ${thrown.message}`);
      throw thrown;
    }
  }

  /** Before another try: what failed is asked again. */
  async forgetFailures(): Promise<void> {
    for (const [name, result] of [...this.#found])
      await result.catch(() => this.#found.delete(name));
  }

  /** A text that no earlier request of this run held. */
  fresh(): string {
    this.#counted += 1;
    return `${this.mark}-${this.#counted}`;
  }
}
