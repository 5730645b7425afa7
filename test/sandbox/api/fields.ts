import { isRecord, type JsonObject } from '../http';

/** Collects what is wrong with a body, by dotted field, as Laravel's validator words it. */
export class FieldErrors {
	private readonly byField: Record<string, string[]> = {};

	add(field: string, text: string): void {
		(this.byField[field] ??= []).push(text);
	}

	get any(): boolean {
		return Object.keys(this.byField).length > 0;
	}

	keyed(): Record<string, string[]> {
		return this.byField;
	}

	list(): string[] {
		return Object.values(this.byField).flat();
	}

	/** The first error and how many more, as Laravel sums a refusal up. */
	message(): string {
		const [first = 'The given data was invalid.', ...more] = this.list();
		const plural = more.length === 1 ? 'error' : 'errors';
		return more.length === 0 ? first : `${first} (and ${more.length} more ${plural})`;
	}
}

type Check = (value: unknown) => string | undefined;

/**
 * Reads fields of one object of the body. Strict on types: an amount as a text or with a
 * fraction is refused, since the document says integer.
 */
export class FieldReader {
	constructor(
		private readonly errors: FieldErrors,
		private readonly source: JsonObject,
		private readonly prefix = '',
	) {}

	has(name: string): boolean {
		return this.source[name] !== undefined && this.source[name] !== null;
	}

	required(name: string): boolean {
		const value = this.source[name];
		const blank =
			value === undefined ||
			value === null ||
			value === '' ||
			(isList(value) && value.length === 0);
		if (blank) this.errors.add(this.path(name), `The ${this.path(name)} field is required.`);
		return !blank;
	}

	integer(name: string, min?: number): number | undefined {
		const value = this.read(name, (given) => {
			if (typeof given !== 'number' || !Number.isSafeInteger(given)) return 'must be an integer.';
			return min !== undefined && given < min ? `must be at least ${min}.` : undefined;
		});
		return typeof value === 'number' ? value : undefined;
	}

	number(name: string, min: number, max: number): void {
		this.read(name, (given) => {
			if (typeof given !== 'number') return 'must be a number.';
			return given < min || given > max ? `must be between ${min} and ${max}.` : undefined;
		});
	}

	text(name: string): string | undefined {
		const value = this.read(name, (given) =>
			typeof given === 'string' ? undefined : 'must be a string.',
		);
		return typeof value === 'string' ? value : undefined;
	}

	/** A text without further checks; empty if it is no text. */
	peek(name: string): string {
		const value = this.source[name];
		return typeof value === 'string' ? value : '';
	}

	boolean(name: string): void {
		this.read(name, (given) => (typeof given === 'boolean' ? undefined : 'must be true or false.'));
	}

	oneOf(name: string, allowed: readonly unknown[]): void {
		this.read(name, (given) => (allowed.includes(given) ? undefined : 'is invalid.'));
	}

	matches(name: string, pattern: RegExp, text: string): void {
		this.read(name, (given) => {
			if (typeof given !== 'string') return 'must be a string.';
			return pattern.test(given) ? undefined : text;
		});
	}

	httpUrl(name: string): string | undefined {
		const value = this.read(name, (given) =>
			isHttpUrl(given) ? undefined : 'must be a valid http or https URL.',
		);
		return typeof value === 'string' ? value : undefined;
	}

	list(name: string): unknown[] {
		const value = this.read(name, (given) => (isList(given) ? undefined : 'must be an array.'));
		return isList(value) ? value : [];
	}

	object(name: string): FieldReader | undefined {
		const value = this.read(name, (given) => (isRecord(given) ? undefined : 'must be an object.'));
		return isRecord(value) ? new FieldReader(this.errors, value, this.path(name)) : undefined;
	}

	/** The entries of a list of objects, each read under `name.index`. */
	objects(name: string): FieldReader[] {
		return this.list(name).flatMap((entry, index) => {
			const path = `${this.path(name)}.${index}`;
			if (isRecord(entry)) return [new FieldReader(this.errors, entry, path)];
			this.errors.add(path, `The ${path} field must be an object.`);
			return [];
		});
	}

	refuse(name: string, text: string): void {
		this.errors.add(this.path(name), `The ${this.path(name)} field ${text}`);
	}

	/** The value, after an absent one or one that fails the check has become undefined. */
	private read(name: string, check: Check): unknown {
		if (!this.has(name)) return undefined;
		const value = this.source[name];
		const problem = check(value);
		if (problem === undefined) return value;
		this.refuse(name, problem);
		return undefined;
	}

	private path(name: string): string {
		return this.prefix === '' ? name : `${this.prefix}.${name}`;
	}
}

function isList(value: unknown): value is unknown[] {
	return Array.isArray(value);
}

function isHttpUrl(value: unknown): boolean {
	if (typeof value !== 'string' || !URL.canParse(value)) return false;
	const { protocol, hostname } = new URL(value);
	return (protocol === 'http:' || protocol === 'https:') && hostname !== '';
}
