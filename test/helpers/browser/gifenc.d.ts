/** The package has no types. */
declare module 'gifenc' {
	type Palette = number[][];
	interface Frame {
		palette: Palette;
		/** In milliseconds. */
		delay: number;
		transparent: boolean;
		transparentIndex: number;
		/** 1 keeps the previous frame where this frame is transparent. */
		dispose: number;
	}
	export function quantize(rgba: Uint8Array, most: number): Palette;
	export function applyPalette(rgba: Uint8Array, palette: Palette): Uint8Array;
	export function GIFEncoder(): {
		writeFrame(index: Uint8Array, width: number, height: number, frame: Frame): void;
		finish(): void;
		bytes(): Uint8Array;
	};
}
