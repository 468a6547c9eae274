// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads an image by dlopen, and reads its program headers.
#include "tuner/device/sim/image/image.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstring>

namespace hone::sim {

namespace {

struct Search {
  uint64_t address = 0;       // any address inside the image
  ImageLayout layout;
  void* thread_shared = nullptr;
  bool found = false;
};

// Is called by dl_iterate_phdr for each loaded object, and notes the layout of the object that is sought.
int Visit(dl_phdr_info* info, size_t, void* data) {
  Search& search = *static_cast<Search*>(data);
  const uint64_t base = info->dlpi_addr;
  uint64_t begin = ~uint64_t{0}, end = 0;
  ImageLayout layout;
  uint64_t relro_end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    const uint64_t low = base + segment.p_vaddr, high = low + segment.p_memsz;
    switch (segment.p_type) {
      case PT_LOAD:
        begin = std::min(begin, low);
        end = std::max(end, high);
        if (segment.p_flags & PF_X) {
          layout.text_begin = low;
          layout.text_end = high;
        }
        if (segment.p_flags & PF_W) {
          layout.data_begin = low;
          layout.data_end = high;
        }
        break;
      case PT_GNU_RELRO:
        relro_end = high;
        break;
      case PT_TLS:
        layout.shared_bytes = static_cast<uint32_t>(segment.p_memsz);
        break;
      default:
        break;
    }
  }
  if (search.address < begin || search.address >= end) return 0;
  layout.image_begin = begin;
  layout.image_end = end;
  layout.data_begin = std::max(layout.data_begin, std::min(relro_end, layout.data_end));
  search.layout = layout;
  search.thread_shared = info->dlpi_tls_data;
  search.found = true;
  return 1;
}

}  // namespace

Result<Image> Image::Load(int fd, const ImageNotes& notes) {
  Image image;
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  image.handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (image.handle_ == nullptr) {
    const char* loader_message = dlerror();
    return Status::InvalidArgument(loader_message != nullptr ? loader_message : "the dynamic linker refused the image");
  }
  Search search;
  search.address = reinterpret_cast<uint64_t>(dlsym(image.handle_, "hone_touch_shared"));
  if (search.address == 0) return Status::InvalidArgument("the image was not made by Hone's simulator compiler");
  dl_iterate_phdr(&Visit, &search);
  if (!search.found) return Status::Internal("the loaded image is not among the process's objects");
  image.layout_ = search.layout;
  image.layout_.has_dynamic = notes.has_dynamic;
  image.layout_.guards = notes.guards;
  for (const auto& [begin, end] : notes.constants) {
    image.layout_.constants.emplace_back(image.layout_.image_begin + begin, image.layout_.image_begin + end);
  }
  image.layout_.static_shared = std::min(notes.static_shared, image.layout_.shared_bytes);
  image.layout_.dynamic_offset = std::min(notes.dynamic_offset, image.layout_.shared_bytes);
  const uint8_t* data = reinterpret_cast<const uint8_t*>(image.layout_.data_begin);
  image.initial_.assign(data, data + (image.layout_.data_end - image.layout_.data_begin));
  return image;
}

KernelEntry Image::Entry(const std::string& symbol) const {
  return reinterpret_cast<KernelEntry>(dlsym(handle_, symbol.c_str()));
}

uint8_t* Image::ThreadShared() const {
  // A thread's segment is created at its first use.
  const auto touch = reinterpret_cast<void* (*)()>(dlsym(handle_, "hone_touch_shared"));
  touch();
  Search search;
  search.address = reinterpret_cast<uint64_t>(touch);
  dl_iterate_phdr(&Visit, &search);
  return static_cast<uint8_t*>(search.thread_shared);
}

void Image::SetDisplacement(uint32_t key) {
  const auto touch = reinterpret_cast<void* (*)()>(dlsym(handle_, "hone_touch_displacement"));
  if (touch == nullptr) return;
  const uint64_t address = reinterpret_cast<uint64_t>(touch());
  if (address < layout_.data_begin || address + sizeof(key) > layout_.data_end) return;
  std::memcpy(reinterpret_cast<void*>(address), &key, sizeof(key));
  std::memcpy(initial_.data() + (address - layout_.data_begin), &key, sizeof(key));
}

void Image::RestoreGlobals() {
  std::memcpy(reinterpret_cast<void*>(layout_.data_begin), initial_.data(), initial_.size());
}

std::vector<uint8_t> Image::Globals() const {
  const auto* const data = reinterpret_cast<const uint8_t*>(layout_.data_begin);
  return {data, data + initial_.size()};
}

void Image::SetGlobals(const std::vector<uint8_t>& globals) {
  std::memcpy(reinterpret_cast<void*>(layout_.data_begin), globals.data(), std::min(globals.size(), initial_.size()));
}

bool Image::GlobalsChanged() const {
  return std::memcmp(reinterpret_cast<const void*>(layout_.data_begin), initial_.data(), initial_.size()) != 0;
}

}  // namespace hone::sim
