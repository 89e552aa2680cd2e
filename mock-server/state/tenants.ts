import { randomBytes } from 'node:crypto';
import { ControlRefusal } from '../base/http-message.ts';
import type { MockServerOptions } from './options.ts';

/** Prefix of all paths of a tenant: `/t/<name>/api/pas/…`. */
const MOUNT = '/t/';
const MAX_TENANTS = 100;
/** Limit of all tenants together: each takes 3.5 kB of memory. */
const MAX_RECORDS = 200_000;
const NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;

/**
 * Several services on one server: each has its own records, accounts, clock, throttle, faults and
 * journal.
 */
export class Tenants<Service extends { dispose(): void }> {
  readonly #byName = new Map<string, Service>();
  readonly #being = new Set<string>();
  /** Number of synthetic records, by tenant. */
  readonly #records = new Map<string, number>();
  readonly #make: (mount: string, options: MockServerOptions) => Promise<Service>;

  /** @param make creates a service whose paths are below a mount */
  constructor(make: (mount: string, options: MockServerOptions) => Promise<Service>) {
    this.#make = make;
  }

  /** @throws ControlRefusal; SeedError, ShapeError where the options cannot be used */
  async add(options: MockServerOptions, givenName?: string): Promise<Service> {
    const name = givenName ?? randomBytes(6).toString('hex');
    if (!NAME.test(name))
      throw new ControlRefusal(
        422,
        'a tenant is called by small letters, digits and hyphens, 40 at most',
      );
    if (this.#byName.has(name) || this.#being.has(name))
      throw new ControlRefusal(409, `there is a tenant ${name} already`);
    if (this.#byName.size + this.#being.size >= MAX_TENANTS)
      throw new ControlRefusal(
        409,
        `there are ${MAX_TENANTS} tenants, the most that a server has; remove one first`,
      );
    const records = options.records ?? 0;
    const present = [...this.#records.values()].reduce((sum, count) => sum + count, 0);
    if (present + records > MAX_RECORDS)
      throw new ControlRefusal(
        409,
        `all tenants may have ${MAX_RECORDS} synthetic records together, and have ${present}; ask for fewer, or remove a tenant`,
      );
    this.#being.add(name);
    this.#records.set(name, records);
    try {
      const tenant = await this.#make(MOUNT + name, options);
      this.#byName.set(name, tenant);
      return tenant;
    } catch (thrown) {
      this.#records.delete(name);
      throw thrown;
    } finally {
      this.#being.delete(name);
    }
  }

  /** @throws ControlRefusal */
  remove(name: string): void {
    const tenant = this.#byName.get(name);
    if (tenant === undefined) throw new ControlRefusal(404, `there is no tenant ${name}`);
    this.#byName.delete(name);
    this.#records.delete(name);
    tenant.dispose();
  }

  list(): ReadonlyArray<readonly [name: string, mock: Service]> {
    return [...this.#byName];
  }

  /**
   * Returns the tenant of a request target, and the target below its mount; undefined for no
   * tenant.
   * @throws ControlRefusal
   */
  findTenant(target: string): { readonly mock: Service; readonly target: string } | undefined {
    if (!target.startsWith(MOUNT)) return undefined;
    const [, name = '', rest = ''] = /^\/t\/([^/?]*)(.*)$/s.exec(target) ?? [];
    const tenant = this.#byName.get(name);
    if (tenant === undefined)
      throw new ControlRefusal(404, `there is no tenant ${name}; POST /__mock__/tenants makes one`);
    return { mock: tenant, target: rest.startsWith('/') ? rest : `/${rest}` };
  }

  dispose(): void {
    for (const name of this.#byName.keys()) this.remove(name);
  }
}
