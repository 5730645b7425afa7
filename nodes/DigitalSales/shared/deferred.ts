export interface Deferred<T> {
	promise: Promise<T>;
	resolve: (value: T) => void;
	reject: (error: Error) => void;
}

/** A promise that other code settles. */
export function deferred<T = void>(): Deferred<T> {
	let resolve: Deferred<T>['resolve'] = () => undefined;
	let reject: Deferred<T>['reject'] = () => undefined;
	const promise = new Promise<T>((settle, fail) => {
		resolve = settle;
		reject = fail;
	});

	return { promise, resolve, reject };
}
