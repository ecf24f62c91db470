package groth16

import (
	"bytes"
	"encoding/binary"
	"os"
)

// The modulus of BLS12-381's scalar field, little-endian.
var modulus = []byte{
	0x01, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xfe, 0x5b, 0xfe, 0xff, 0x02, 0xa4, 0xbd, 0x53,
	0x05, 0xd8, 0xa1, 0x09, 0x08, 0xd8, 0x39, 0x33, 0x48, 0x7d, 0x9d, 0x29, 0x53, 0xa7, 0xed, 0x73,
}

// ReadWitness reads an iden3 .wtns file and returns its scalars: the constant one, inputs, then aux. Split it by the
// circuit's or the key's NumInputs.
func ReadWitness(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, &Error{Op: "read witness", Status: ErrIO, Cause: err}
	}
	return ParseWitness(data)
}

// ParseWitness is ReadWitness for a file's bytes. What it returns is a part of data.
func ParseWitness(data []byte) ([]byte, error) {
	malformed := func(message string) ([]byte, error) {
		return nil, &Error{Op: "parse witness", Status: ErrFormat, Message: message}
	}
	le := binary.LittleEndian
	if len(data) < 12 || string(data[:4]) != "wtns" {
		return malformed("not a .wtns file")
	}
	if le.Uint32(data[4:]) != 2 {
		return malformed("not version 2")
	}
	var header, scalars []byte
	for rest := data[12:]; len(rest) > 0; {
		if len(rest) < 12 {
			return malformed("cut off in a section's head")
		}
		section, size := le.Uint32(rest), le.Uint64(rest[4:])
		rest = rest[12:]
		if size > uint64(len(rest)) {
			return malformed("a section is longer than the file")
		}
		switch section {
		case 1:
			header = rest[:size]
		case 2:
			scalars = rest[:size:size]
		}
		rest = rest[size:]
	}
	if len(header) != 4+ScalarSize+4 || scalars == nil {
		return malformed("a section is missing")
	}
	if le.Uint32(header) != ScalarSize || !bytes.Equal(header[4:4+ScalarSize], modulus) {
		return malformed("not over the scalar field of BLS12-381")
	}
	if uint64(len(scalars)) != ScalarSize*uint64(le.Uint32(header[4+ScalarSize:])) {
		return malformed("the number of values and the section's size disagree")
	}
	return scalars, nil
}
