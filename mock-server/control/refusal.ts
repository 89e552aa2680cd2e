/** Why the control interface refuses what it is asked for. */
export class ControlRefusal extends Error {
  readonly status: 403 | 404 | 409 | 422;
  constructor(status: 403 | 404 | 409 | 422, reason: string) {
    super(reason);
    this.name = 'ControlRefusal';
    this.status = status;
  }
}
