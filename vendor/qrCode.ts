/**
 * The only file that names a library which is not at hand where the package runs. The build puts a
 * bundle of the library in its place.
 */
export { generatePngQrCode } from '@juit/qrcode';
